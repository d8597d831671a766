import test from 'ava'
import { endInTerm, type EndByWorker } from '../../../../application/lives/ending.ts'
import { expireLives } from '../../../../application/lives/policies/expire-lives.ts'
import { reconcileLives } from '../../../../application/lives/policies/reconcile-lives.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { silentLogger } from '../../../support/doubles/loggers.ts'
import { createManualTimers } from '../../../support/doubles/manual-timers.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const START = Date.parse('2026-11-21T09:30:00Z')
const HOUR = 3_600_000

/**
 * A waiting session (1) and an active one (2), whose limits are an hour and a day. The process that writes and the
 * process that reconciles have clocks that are this far ahead of the clock of the store. `openAt` runs rounds at a time
 * of the store, in milliseconds after the start, until these sessions are open.
 */
const reconciledBy = async (aheadOfStore: { readonly writer?: number; readonly reconciler?: number }) => {
  const { writer = 0, reconciler: own = 0 } = aheadOfStore
  let passed = 0
  const storeNow = (): number => START + passed
  const clock = (ahead: number) => (): string =>
    new Date(storeNow() + ahead).toISOString().replace('Z', '000+00:00')
  const side = await createWriteSide({ environment: { ...createTestEnvironment(), now: clock(writer) }, storeNow })
  for (const _ of [1, 2]) right(await side.createLive(callerOf(1), requestOf()))
  right(await side.lifecycle.attachSender(2)())
  right(await side.lifecycle.startLive(2))
  const timers = createManualTimers()
  const deps = { ...side.deps, environment: { ...side.deps.environment, now: clock(own), monotonic: storeNow } }
  const endByWorker: EndByWorker = async (liveId, { cause, origin }) =>
    ({ position: right(await endInTerm(side.deps, liveId, { cause, origin, term: 1 })) })
  const limits = { pendingTimeout: HOUR, maxDuration: 24 * HOUR }
  const reconciler = reconcileLives({
    ...deps, logger: silentLogger, timers, expiry: expireLives({ ...deps, limits, endByWorker }), every: 1000,
  })
  const open = (): string => side.admission.state().open.map(({ liveId }) => liveId).join()
  return {
    stop: reconciler.stop,
    openAt: async (ms: number, expected: string): Promise<void> => {
      passed = ms
      timers.advance(1000)
      await eventually(() => {
        if (timers.size() === 0 || open() !== expected) throw new Error(`open are ${open()}`)
      })
    },
  }
}

for (const [clock, ahead] of [
  ['two hours ahead', 2], ['a year ahead', 8766], ['an hour behind', -1], ['8 hours ahead after a sleep', 8],
] as const)
  test(`a reconciler whose clock is ${clock} ends sessions by the clock of the store`, async (t) => {
    const { openAt, stop } = await reconciledBy({ reconciler: ahead * HOUR })
    for (let round = 0; round < 5; round++) await openAt(HOUR - 1000, '1,2')
    await openAt(HOUR, '2')
    for (let round = 0; round < 5; round++) await openAt(24 * HOUR - 1000, '2')
    await t.notThrowsAsync(openAt(24 * HOUR, ''))
    await stop()
  })

test('a session that a process with a clock two days behind has created ends no earlier', async (t) => {
  const { openAt, stop } = await reconciledBy({ writer: -48 * HOUR })
  for (let round = 0; round < 5; round++) await openAt(HOUR - 1000, '1,2')
  await openAt(HOUR, '2')
  await t.notThrowsAsync(openAt(24 * HOUR, ''))
  await stop()
})
