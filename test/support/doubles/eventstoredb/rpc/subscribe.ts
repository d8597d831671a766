import { randomUUID } from 'node:crypto'
import streams, { type ReadReq, type ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
import type { LogRecord, LogView } from '../log/event-log.ts'
import { checkpointResponse, eventResponse, thrownFailure } from './messages.ts'
import { errorAt, givenPosition, indexFrom, isShown, START, type LogPosition } from './log-positions.ts'
import { failCall, sendAnswer, type ReadCall } from './read-answers.ts'

/** The maximum of matching records per page. Also the default number of searched records per page. */
const PAGE = 32

type Matches = (record: LogRecord) => boolean

/** Throws a SyntaxError when the filter is not a regular expression. */
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

/** The position after a record, where the next page begins. */
const positionAfter = (record: LogRecord): LogPosition => ({ commit: record.next, prepare: 0 })

const positionOf = ({ position }: LogRecord): LogPosition => ({ commit: position, prepare: position })

/**
 * The start of a subscription to $all. With a position, the subscription skips the next record. That is the record of
 * the position, or a later record if a scavenge removed it.
 */
const startOf = (log: LogView, all: ReadReq.Options.AllOptions | undefined): LogPosition => {
  if (all?.hasEnd() === true) return { commit: log.end(), prepare: 0 }
  const position = givenPosition(all)
  if (position === null || (position.commit === 0 && position.prepare === 0)) return START
  const next = indexFrom(log, position)
  const skipped = log.records.findIndex((record, index) => index >= next && isShown(record))
  const last = skipped < 0 ? log.records.at(-1) : log.records[skipped]
  return last === undefined || log.records[next] === undefined ? position : positionAfter(last)
}

interface Plan {
  readonly start: LogPosition
  readonly matches: Matches
  /** The maximum of searched records per page. */
  readonly window: number
  /** The number of searched records between two checkpoints; null: no filter, so no checkpoints. */
  readonly interval: number | null
}

/** Reads the options of a subscription; null: the server reports an exception. */
const planOf = (log: LogView, options: ReadReq.Options): Plan | null => {
  const given = givenPosition(options.getAll())
  if (given !== null && errorAt(log, given) !== null) return null
  const filter = options.getFilter()
  const window = filter?.hasMax() === true ? filter.getMax() : PAGE
  const interval = filter === undefined ? null : window * Math.max(1, filter.getCheckpointintervalmultiplier())
  try {
    return { start: startOf(log, options.getAll()), matches: matcher(filter), window, interval }
  } catch {
    return null
  }
}

interface Page {
  readonly found: ReadonlyArray<LogRecord>
  readonly searched: number
  /** The start of the next page. */
  readonly next: LogPosition
  readonly isEnd: boolean
}

const readPage = (log: LogView, from: LogPosition, { matches, window }: Plan): Page => {
  const found: LogRecord[] = []
  let [index, searched, next] = [indexFrom(log, from), 0, from]
  while (found.length < PAGE && searched < window) {
    const record = log.records[index]
    if (record === undefined) return { found, searched, next, isEnd: true }
    index += 1
    searched += 1
    next = positionAfter(record)
    if (isShown(record) && matches(record)) found.push(record)
  }
  return { found, searched, next, isEnd: false }
}

/**
 * Sends matching events page by page, then new events. With a filter on $all it also sends checkpoints, but none for
 * the end of the log.
 */
export const subscribe = async (call: ReadCall, log: LogView, options: ReadReq.Options): Promise<void> => {
  const plan = planOf(log, options)
  if (plan === null) return failCall(call, thrownFailure())
  const { start, matches, interval } = plan

  let wake: () => void = () => undefined
  const stopListening = log.onWrite(() => wake())
  const stop = (): void => {
    stopListening()
    wake()
  }
  call.on('cancelled', stop)
  call.on('close', stop)
  const isOver = (): boolean => call.cancelled || call.destroyed
  const nextWrite = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve
    })

  /** The number of records searched after the last checkpoint. */
  let searched = 0
  const checkpointWhenDue = async ({ commit, prepare }: LogPosition): Promise<void> => {
    if (interval === null || searched < interval) return
    searched %= interval
    await sendAnswer(call, checkpointResponse(commit, prepare))
  }
  /** Sends the events of the log. Returns the position after them. */
  const catchUp = async (): Promise<LogPosition> => {
    let position = start
    while (!isOver()) {
      const page = readPage(log, position, plan)
      for (const record of page.found) await sendAnswer(call, eventResponse(record))
      searched += page.searched
      const last = page.found.at(-1)
      if (!page.isEnd) await checkpointWhenDue(last === undefined ? position : positionOf(last))
      else return page.next
      position = page.next
    }
    return position
  }
  const follow = async (from: number): Promise<void> => {
    let next = from
    while (!isOver()) {
      const record = log.records[log.indexAt(next)]
      if (record === undefined) await nextWrite()
      else {
        next = record.next
        searched += 1
        if (isShown(record) && matches(record)) await sendAnswer(call, eventResponse(record))
        await checkpointWhenDue(positionOf(record))
      }
    }
  }

  await sendAnswer(call, confirmation())
  const { commit } = await catchUp()
  await sendAnswer(call, caughtUp())
  await follow(Math.min(commit, log.end()))
}
