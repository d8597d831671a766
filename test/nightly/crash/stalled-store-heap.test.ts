import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { createStalledWorld } from '../../simulation/stores/stalled-store.ts'
import { plainMembers } from '../../support/events/sealed-texts.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes that are still reachable. */
const heap = async (): Promise<number> => {
  // What waits for the turn's end is let go first.
  await new Promise((resolve) => { setImmediate(resolve) })
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const SESSIONS = Number(process.env['STENOLOG_TEST_SESSIONS'] ?? 500)
/** The first ones load and compile what there is. */
const WARM_UP = 2
const ROUNDS = 3

test('after 500 sessions on a store that stalls and 30 s of one that is well the heap is back within 5 %', async (t) => {
  t.timeout(600_000)
  const { path, remove } = await temporaryDirectory()
  // On disk: what a log in memory keeps would be the heap.
  const store = await openSqliteEventStore({ file: join(path, 'events.sqlite') })
  const keyring = await openSqliteKeyring({ file: join(path, 'keyring.sqlite'), masterKey: randomBytes(32) })
  // The keys that a keyring keeps in memory are as many as they will ever be.
  await Promise.all(
    Array.from({ length: 10_001 }, async (_, n) => keyring.seal(`filler-${n}`, plainMembers(['text']))()),
  )
  const world = await createStalledWorld(chanceOf(t).random('stall'), { store, keyring })
  t.teardown(async () => {
    await world.close()
    await Promise.all([store.close(), keyring.close()])
    await remove()
  })
  const sizes: Array<number> = []
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const { made } = await world.round(`round-${round}`, SESSIONS)
    t.is(made, SESSIONS)
    await world.endAll()
    sizes.push(await heap())
  }
  const [before = 0, ...later] = sizes.slice(WARM_UP - 1)
  const shown = sizes.map((size) => (size / 2 ** 20).toFixed(2)).join(', ')
  t.log(`MB on the heap after each ${SESSIONS} sessions: ${shown}`)
  for (const size of later) t.true(size <= before * 1.05, `${size} bytes behind ${before}`)
})
