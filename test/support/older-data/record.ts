import type { BackedUp, Lost } from '../restores/life.ts'
import type { Lists } from './lists.ts'
import type { LogCopy } from './log-copy.ts'

/** The file, next to the data of an older version, that contains what this version answered. */
export const RECORD = 'record.json'

/** What an older version lived and answered, at its backup and at its end. */
export interface OlderRecord {
  readonly backedUp: BackedUp
  readonly lost: Lost
  readonly atBackup: Lists
  readonly atEnd: Lists
}

/** The file, next to the keys of an older version, that contains its log on EventStoreDB. */
export const LOG = 'log.json'

/** The log of an older version on EventStoreDB. */
export interface OlderLog {
  readonly events: LogCopy
  /** The number of events at the backup. */
  readonly atBackup: number
}
