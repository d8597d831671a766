import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Rebuilt } from '../../../application/ports/projector.ts'
import { createRebuildRequests } from '../../../projections/rebuild/rebuild-requests.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'

const REBUILT = { projection: 'lives', events: 3, corrected: 1, resumed: false } as unknown as Rebuilt

/** Starts a process that serves rebuild requests. `attempt` returns the result of each rebuild. */
const start = (
  attempt: (number: number) => Promise<Either<string, Rebuilt>>,
  hasStopped: () => boolean = () => false,
) => {
  const timers = createManualTimers()
  const documents = createMemoryDocuments()
  const stopping = new AbortController()
  const requests = createRebuildRequests({
    documents,
    environment: { random: () => 0 },
    timers,
    signal: stopping.signal,
  })
  const state = { attempts: 0 }
  const serving = requests.serve(['lives'], () => ({
    hasStopped,
    rebuild: async () => {
      state.attempts += 1
      return await attempt(state.attempts)
    },
  }))
  const pass = async (ms: number): Promise<void> => {
    for (let remaining = ms; remaining > 0; remaining -= 50) {
      timers.advance(50)
      for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { timers, requests, state, pass, stop: async () => (stopping.abort(), await serving) }
}

const ignoreProgress = (): void => undefined

test('a rebuild that throws is retried and leaves nothing running', async (t) => {
  const { timers, requests, state, pass, stop } = start(async (number) => {
    if (number === 1) throw new Error('a defect')
    return E.right(REBUILT)
  })
  const result = requests.request('lives', ignoreProgress)
  await pass(4000)
  t.deepEqual(await result, E.right(REBUILT))
  t.is(state.attempts, 2)
  await stop()
  t.is(timers.size(), 0)
})

test('a rebuild that failed because its lease was lost is repeated by the next holder', async (t) => {
  let isLost = true
  const { requests, state, pass, stop } = start(
    async (number) => (number === 1 ? E.left('the lease is lost') : E.right(REBUILT)),
    () => isLost,
  )
  const result = requests.request('lives', ignoreProgress)
  await pass(1500)
  t.is(state.attempts, 1)
  isLost = false
  await pass(3000)
  t.deepEqual(await result, E.right(REBUILT))
  await stop()
})

test('a second request for a running rebuild joins it', async (t) => {
  const rebuilding = Promise.withResolvers<Either<string, Rebuilt>>()
  const { requests, state, pass, stop } = start(() => rebuilding.promise)
  const first = requests.request('lives', ignoreProgress)
  await pass(1500)
  const second = requests.request('lives', ignoreProgress)
  await pass(1500)
  rebuilding.resolve(E.right(REBUILT))
  await pass(1500)
  t.deepEqual([await first, await second], [E.right(REBUILT), E.right(REBUILT)])
  t.is(state.attempts, 1)
  await stop()
})
