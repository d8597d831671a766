import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import { immediateTimers } from '../../support/doubles/immediate-timers.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { monitorStores } from '../../../interfaces/compose/store-watch.ts'

test('the log tells once when a store is lost, with the cause, and when it is back', async (t) => {
  const stopping = new AbortController()
  const logger = createRecordingLogger()
  let [checks, logProblem, mongoProblem]: [number, string | null, string | null] = [0, null, null]
  const watch = monitorStores({
    store: {
      head: () => async () => {
        checks += 1
        return logProblem === null ? E.right(BEGINNING) : E.left({ _tag: 'StoreUnavailable', reason: logProblem })
      },
    },
    unreachable: () => mongoProblem,
    logger, environment: createTestEnvironment(), timers: immediateTimers, signal: stopping.signal,
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
