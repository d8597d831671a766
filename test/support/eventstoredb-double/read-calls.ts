import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { EventLog, LogRecord } from './event-log.ts'
import { eventResponse, identifierOf, nameOf, thrownFailure, tombstonedFailure } from './messages.ts'
import { fail, send, type ReadCall } from './read-answers.ts'
import { subscribe } from './subscribe.ts'
import type { CallParts } from './write-calls.ts'

const notFound = (stream: string): ReadResp => {
  const missing = new streams.ReadResp.StreamNotFound()
  missing.setStreamIdentifier(identifierOf(stream))
  const response = new streams.ReadResp()
  response.setStreamNotFound(missing)
  return response
}

const isBackwards = (options: ReadReq.Options): boolean => options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS

/** The records that a read of a stream asks for; null where there is no stream. */
const streamRecords = (log: EventLog, options: ReadReq.Options): ReadonlyArray<LogRecord> | null => {
  const from = options.getStream()
  const stream = nameOf(from?.getStreamIdentifier())
  if (log.last(stream) < 0n || log.isDeleted(stream)) return null
  const visible = log.visible(stream)
  if (from?.hasEnd() === true) return isBackwards(options) ? visible.toReversed() : []
  const revision = from?.hasRevision() === true ? BigInt(from.getRevision()) : 0n
  return isBackwards(options)
    ? visible.filter((record) => record.revision <= revision).toReversed()
    : visible.filter((record) => record.revision >= revision)
}

/** `$all` shows what streams no longer do: nothing is ever scavenged here. */
const allRecords = (log: EventLog, options: ReadReq.Options): ReadonlyArray<LogRecord> => {
  const all = options.getAll()
  const ordered = isBackwards(options) ? log.records.toReversed() : log.records
  const position = all?.getPosition()
  if (position !== undefined) {
    const from = Number(position.getCommitPosition())
    return ordered.filter((record) => (isBackwards(options) ? record.position < from : record.position >= from))
  }
  return (all?.hasEnd() === true) === isBackwards(options) ? ordered : []
}

const answer = async (call: ReadCall, log: EventLog, options: ReadReq.Options): Promise<void> => {
  const stream = nameOf(options.getStream()?.getStreamIdentifier())
  if (options.hasStream() && log.isTombstoned(stream)) return fail(call, tombstonedFailure(stream))
  if (options.hasSubscription()) return subscribe(call, log, options)
  const count = BigInt(options.getCount())
  if (count === 0n) return fail(call, thrownFailure('Unexpected ReadStreamResult: Error'))
  const records = options.hasStream() ? streamRecords(log, options) : allRecords(log, options)
  if (records === null) await send(call, notFound(stream))
  else
    for (const [index, record] of records.entries()) {
      if (BigInt(index) >= count || call.cancelled) break
      await send(call, eventResponse(record))
    }
  call.end()
}

/** Reads of both kinds, both ways, and subscriptions: one call of the protocol. */
export const readCall =
  ({ log, faults, dropAll }: CallParts) =>
  (call: ReadCall): void => {
    call.on('error', () => undefined)
    const options = call.request.getOptions()
    if (options === undefined) return fail(call, thrownFailure())
    const fault = faults.take(options.hasSubscription() ? 'subscribe' : 'read')
    if (fault === 'hang' || fault === 'unanswered') return
    if (fault === 'drop') return dropAll()
    if (fault === 'wrong') return fail(call, thrownFailure())
    answer(call, log, options).catch((error: unknown) => fail(call, thrownFailure(String(error))))
  }
