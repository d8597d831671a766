import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING } from '../../../../application/ports/event-store.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { monitorStores } from '../../../../interfaces/compose/store-watch.ts'

test('the log tells once when a store is lost, with the cause, and when it is back', async (t) => {
  const stopping = new AbortController()
  const logger = createRecordingLogger()
  const environment = createTestEnvironment()
  let [checks, logProblem, mongoProblem]: [number, string | null, string | null] = [0, null, null]
  const watch = monitorStores({
    store: {
      now: () => Date.parse(environment.now()),
      head: async () => {
        checks += 1
        return logProblem === null ? E.right(BEGINNING) : E.left({ _tag: 'StoreUnavailable', reason: logProblem })
      },
    },
    unreachable: () => mongoProblem,
    mongoSkewMs: null,
    isLogEmbedded: true,
    logger, environment, timers: immediateTimers, signal: stopping.signal,
  })
  const checkOften = async (): Promise<void> => {
    const before = checks
    await eventually(() => assert(checks > before + 10))
  }
  await checkOften()
  t.true(watch.isAnswering())
  logProblem = 'no leader'
  await checkOften()
  t.false(watch.isAnswering())
  mongoProblem = 'one:27017: connect ECONNREFUSED'
  logProblem = null
  await checkOften()
  mongoProblem = null
  await checkOften()
  stopping.abort()
  await watch.stopped
  t.deepEqual(logger.lines.map(({ level, message, fields }) => [level, message, fields['reason']]), [
    ['warn', 'the event store does not answer', 'no leader'],
    ['info', 'the event store answers again', undefined],
    ['warn', 'MongoDB does not answer', 'one:27017: connect ECONNREFUSED'],
    ['info', 'MongoDB answers again', undefined],
  ])
})

interface Case {
  readonly isLogEmbedded: boolean
  readonly mongoSkewMs: number | null
  readonly told: ReadonlyArray<readonly [string, number, RegExp]>
}

const tellsOfClocks = test.macro(async (t, { isLogEmbedded, mongoSkewMs, told }: Case) => {
  const stopping = new AbortController()
  const logger = createRecordingLogger()
  const environment = createTestEnvironment()
  let [checks, isOff] = [0, true]
  const watch = monitorStores({
    store: {
      head: async () => {
        checks += 1
        return E.right(BEGINNING)
      },
      now: () => Date.parse(environment.now()) + (isOff ? 3_600_000 : 5000),
    },
    unreachable: () => null, isLogEmbedded,
    mongoSkewMs: mongoSkewMs === null ? null : () => (isOff ? mongoSkewMs : -5000),
    logger, environment, timers: immediateTimers, signal: stopping.signal,
  })
  const checkOften = async (): Promise<void> => {
    const before = checks
    await eventually(() => assert(checks > before + 10))
  }
  const expected = told.map(([store, seconds]) => ({ store, seconds }))
  await checkOften()
  t.deepEqual([watch.clocks.all(), watch.clocks.differing()], [expected, expected])
  isOff = false
  await checkOften()
  t.deepEqual(watch.clocks.differing(), [])
  stopping.abort()
  await watch.stopped
  const lines = logger.lines.map(({ level, fields }) => [level, fields['store'], fields['skewSeconds']])
  t.deepEqual(lines, [
    ...told.map(([store, seconds]) => ['warn', store, seconds]),
    ...told.map(([store, seconds]) => ['info', store, 5 * Math.sign(seconds)]),
  ])
  for (const [index, [, , sentence]] of told.entries()) t.regex(String(logger.lines[index]?.fields['reason']), sentence)
})

test('a server whose clock differs by more than five seconds is told once, and its end', tellsOfClocks, {
  isLogEmbedded: false, mongoSkewMs: -10_000,
  told: [['event_store', 3600, /server's clock is ahead/], ['mongodb', -10, /server's clock is behind/]],
})

test('an embedded log that is ahead of the machine is told with its possible causes', tellsOfClocks, {
  isLogEmbedded: true, mongoSkewMs: null,
  told: [['event_store', 3600, /newest event lies ahead, or the clock .* set back/]],
})
