import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogRecord, LogView } from '../log/event-log.ts'
import { eventResponse, identifierOf, nameOf, thrownFailure, type Failure } from './messages.ts'
import { requiresLeader, type ServingNode } from '../node.ts'
import { errorAt, givenPosition, isShown, UNREADABLE_POSITION } from './log-positions.ts'
import { failCall, sendAnswer, type ReadCall } from './read-answers.ts'
import { scavenge } from '../log/scavenge.ts'
import { subscribe } from './subscribe.ts'
import type { CallParts } from './write-calls.ts'

const notFound = (stream: string): ReadResp => {
  const missing = new streams.ReadResp.StreamNotFound()
  missing.setStreamIdentifier(identifierOf(stream))
  const response = new streams.ReadResp()
  response.setStreamNotFound(missing)
  return response
}

const isBackwards = (options: ReadReq.Options): boolean =>
  options.getReadDirection() === streams.ReadReq.Options.ReadDirection.BACKWARDS

/** The records of a read of a stream; null: unknown stream. */
const streamRecords = (log: LogView, options: ReadReq.Options): ReadonlyArray<LogRecord> | null => {
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

/** The records of a read of `$all`, including records that streams hide, or the failure for an impossible position. */
const allRecords = (log: LogView, options: ReadReq.Options): ReadonlyArray<LogRecord> | Failure => {
  const all = options.getAll()
  const position = givenPosition(all)
  const shown = log.records.filter(isShown)
  if (position === null) {
    if ((all?.hasEnd() === true) !== isBackwards(options)) return []
    return isBackwards(options) ? shown.toReversed() : shown
  }
  const error = errorAt(log, position)
  if (error !== null) return error
  const { commit, prepare } = position
  if (!isBackwards(options))
    return shown.filter((record) => record.position > commit || (record.position === commit && commit >= prepare))
  if (commit > log.end()) return thrownFailure(UNREADABLE_POSITION)
  return shown.filter(({ next }) => next < commit || (next === commit && next <= prepare)).toReversed()
}

/** Every node admits a subscription from the end, because such a subscription reads only new events. */
const isFromEnd = (options: ReadReq.Options): boolean =>
  options.hasSubscription() && options.getAll()?.hasEnd() === true

const answer = async (call: ReadCall, { view: log, admit }: ServingNode, options: ReadReq.Options): Promise<void> => {
  const refused = isFromEnd(options) ? null : await admit({ isWrite: false, requiresLeader: requiresLeader(call) })
  if (refused !== null) return failCall(call, refused)
  const stream = nameOf(options.getStream()?.getStreamIdentifier())
  if (options.hasSubscription()) return subscribe(call, log, options)
  const count = BigInt(options.getCount())
  if (count === 0n) return failCall(call, thrownFailure('Unexpected ReadStreamResult: Error'))
  const records = options.hasStream() ? streamRecords(log, options) : allRecords(log, options)
  if (records !== null && 'code' in records) return failCall(call, records)
  if (records === null) await sendAnswer(call, notFound(stream))
  else
    for (const [index, record] of records.entries()) {
      if (BigInt(index) >= count || call.cancelled) break
      await sendAnswer(call, eventResponse(record))
    }
  call.end()
}

/** The call `Read` of the protocol: reads of streams and of $all in both directions, and subscriptions. */
export const readCall =
  ({ node, faults, dropAll }: CallParts) =>
  (call: ReadCall): void => {
    call.on('error', () => undefined)
    const options = call.request.getOptions()
    if (options === undefined) return failCall(call, thrownFailure())
    const fault = faults.take(options.hasSubscription() ? 'subscribe' : 'read')
    if (fault === 'hang' || fault === 'unanswered') return
    if (fault === 'drop') return dropAll()
    if (fault === 'scavenge') scavenge(node.log)
    if (fault === 'wrong') return failCall(call, thrownFailure())
    answer(call, node, options).catch((error: unknown) => failCall(call, thrownFailure(String(error))))
  }
