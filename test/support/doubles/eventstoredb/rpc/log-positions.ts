import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import { EPOCHS, type LogRecord, type LogView } from '../log/event-log.ts'
import { thrownFailure, type Failure } from './messages.ts'

/** A position in $all. An event has equal values of commit and prepare. The start of a page has prepare 0. */
export interface LogPosition {
  readonly commit: number
  readonly prepare: number
}

export const UNREADABLE_POSITION = 'Unexpected ReadAllResult: Error'

export const START: LogPosition = { commit: 0, prepare: 0 }

export const isShown = ({ stream }: LogRecord): boolean => stream !== EPOCHS

/** The position that a request names; null for the start and the end. */
export const givenPosition = (all: ReadReq.Options.AllOptions | undefined): LogPosition | null => {
  const given = all?.getPosition()
  return given === undefined
    ? null
    : { commit: Number(given.getCommitPosition()), prepare: Number(given.getPreparePosition()) }
}

/** The index of the first record at or after a position. */
export const indexFrom = (log: LogView, { commit, prepare }: LogPosition): number => {
  const index = log.indexAt(commit)
  const record = log.records[index]
  return record?.position === commit && record.position < prepare ? index + 1 : index
}

/** The server's error for an impossible position. Null: valid, also for a record that a scavenge removed. */
export const errorAt = (log: LogView, { commit, prepare }: LogPosition): Failure | null => {
  if (prepare > commit) return thrownFailure()
  const isKnown =
    commit === 0 ||
    commit < log.scavengedTo() ||
    commit >= log.end() ||
    log.records[log.indexAt(commit)]?.position === commit
  return isKnown ? null : thrownFailure(UNREADABLE_POSITION)
}
