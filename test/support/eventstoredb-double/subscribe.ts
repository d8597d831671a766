import { randomUUID } from 'node:crypto'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import type { ReadReq, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { EventLog, LogRecord } from './event-log.ts'
import { checkpointResponse, eventResponse, nameOf, thrownFailure } from './messages.ts'
import { fail, send, type ReadCall } from './read-answers.ts'

/** Records searched at a time, unless the client asks for another number; checkpoints come once for so many. */
const SEARCH_WINDOW = 32

type Matches = (record: LogRecord) => boolean

/** Throws a SyntaxError for a filter that is no regular expression. */
const matcher = (filter: ReadReq.Options.FilterOptions | undefined): Matches => {
  const onType = filter?.hasEventType() === true
  const expression = onType ? filter.getEventType() : filter?.getStreamIdentifier()
  if (expression === undefined) return () => true
  const prefixes = expression.getPrefixList()
  const regex = prefixes.length > 0 ? null : new RegExp(expression.getRegex(), 'u')
  return (record) => {
    const text = onType ? record.type : record.stream
    return regex === null ? prefixes.some((prefix) => text.startsWith(prefix)) : regex.test(text)
  }
}

/** Whether a position is one that this log hands out, or lies behind its end. */
const isBoundary = (log: EventLog, commit: number, prepare: number): boolean =>
  commit >= log.end() || ((prepare === 0 || prepare === commit) && (commit === 0 || log.isPlace(commit)))

const confirmation = (): ReadResp => {
  const confirmed = new streams.ReadResp.SubscriptionConfirmation()
  confirmed.setSubscriptionId(randomUUID())
  const response = new streams.ReadResp()
  response.setConfirmation(confirmed)
  return response
}

const caughtUp = (): ReadResp => {
  const response = new streams.ReadResp()
  response.setCaughtUp(new streams.ReadResp.CaughtUp())
  return response
}

/**
 * Index of the first record that is considered; null for a position that cannot be. The server reads one record at the
 * position and begins behind it: behind the next one, where a scavenge has taken that of the position.
 */
const startOf = (log: EventLog, options: ReadReq.Options): number | null => {
  const [all, stream] = [options.getAll(), options.getStream()]
  if (all?.hasEnd() === true || stream?.hasEnd() === true) return log.records.length
  const position = all?.getPosition()
  if (position === undefined) return 0
  const [commit, prepare] = [Number(position.getCommitPosition()), Number(position.getPreparePosition())]
  if (commit === 0) return 0
  if (!isBoundary(log, commit, prepare)) return null
  const index = log.records.findIndex((record) => record.position >= commit && !log.isScavenged(record))
  return index < 0 ? log.records.length : index + 1
}

interface Plan {
  /** Index of the first record that is considered. */
  readonly start: number
  readonly matches: Matches
  /** Records between two checkpoints. */
  readonly interval: number
  readonly hasCheckpoints: boolean
  /** A subscription to a stream has caught up with its first event at the earliest. */
  readonly mayCatchUp: () => boolean
}

/** What a subscription asks for; null where the server throws. */
const planOf = (log: EventLog, options: ReadReq.Options): Plan | null => {
  const filter = options.getFilter()
  const stream = options.getStream()
  const start = startOf(log, options)
  if (start === null) return null
  const interval = (filter?.hasMax() === true ? filter.getMax() : SEARCH_WINDOW) * Math.max(1, filter?.getCheckpointintervalmultiplier() ?? 1)
  const hasCheckpoints = filter !== undefined
  if (stream !== undefined) {
    const name = nameOf(stream.getStreamIdentifier())
    const after = stream.hasRevision() ? BigInt(stream.getRevision()) : -1n
    const matches: Matches = (record) => record.stream === name && record.revision > after
    return { start, matches, interval, hasCheckpoints, mayCatchUp: () => log.last(name) >= 0n }
  }
  try {
    return { start, matches: matcher(filter), interval, hasCheckpoints, mayCatchUp: () => true }
  } catch {
    return null
  }
}

/** Events that match, then those still to come; with a filter on $all also checkpoints, none of them for the end of the log. */
export const subscribe = async (call: ReadCall, log: EventLog, options: ReadReq.Options): Promise<void> => {
  const plan = planOf(log, options)
  if (plan === null) return fail(call, thrownFailure())
  const { start, matches, interval, hasCheckpoints, mayCatchUp } = plan

  let wake: () => void = () => undefined
  const stopListening = log.onWrite(() => wake())
  const stop = (): void => {
    stopListening()
    wake()
  }
  call.on('cancelled', stop)
  call.on('close', stop)

  let next = start
  let considered = 0
  let isLive = false
  // While catching up a checkpoint names the last event told since the one before, else where the search began.
  let place: readonly [commit: number, prepare: number] = [log.records[start - 1]?.next ?? 0, 0]
  const deliver = async (record: LogRecord): Promise<void> => {
    next += 1
    if (log.isScavenged(record)) return
    considered += 1
    const isTold = matches(record)
    if (isTold) await send(call, eventResponse(record))
    if (isTold || isLive) place = [record.position, record.position]
    if (!hasCheckpoints || considered < interval) return
    considered = 0
    await send(call, checkpointResponse(...place))
    place = [record.next, 0]
  }
  const rest = async (): Promise<void> => {
    if (isLive || !mayCatchUp()) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      return
    }
    isLive = true
    considered = 0
    await send(call, caughtUp())
  }

  await send(call, confirmation())
  while (!call.cancelled && !call.destroyed) {
    const record = log.records[next]
    await (record === undefined ? rest() : deliver(record))
  }
}
