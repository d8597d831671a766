import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js'
import { EPOCHS, type LogRecord, type LogView } from '../log/event-log.ts'
import { thrownFailure, type Failure } from './messages.ts'

/** A place in $all. Each event has its position as both; where a page begins, prepare is 0. */
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

/** Index of the first record at a position or behind it. */
export const indexFrom = (log: LogView, { commit, prepare }: LogPosition): number => {
  const index = log.indexAt(commit)
  const record = log.records[index]
  return record?.position === commit && record.position < prepare ? index + 1 : index
}

/**
 * What the server says of a position that cannot be one; null of all others, those of records that a scavenge took
 * included.
 */
export const errorAt = (log: LogView, { commit, prepare }: LogPosition): Failure | null => {
  if (prepare > commit) return thrownFailure()
  const isKnown =
    commit === 0 ||
    commit < log.scavengedTo() ||
    commit >= log.end() ||
    log.records[log.indexAt(commit)]?.position === commit
  return isKnown ? null : thrownFailure(UNREADABLE_POSITION)
}
