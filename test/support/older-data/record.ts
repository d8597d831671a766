import type { BackedUp, Lost } from '../restores/life.ts'
import type { Lists } from './lists.ts'

/** The file, next to the data of an older version, that contains what this version answered. */
export const RECORD = 'record.json'

/** What an older version lived and answered, at its backup and at its end. */
export interface OlderRecord {
  readonly backedUp: BackedUp
  readonly lost: Lost
  readonly atBackup: Lists
  readonly atEnd: Lists
}
