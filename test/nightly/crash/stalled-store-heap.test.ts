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

/** Returns the bytes on the heap that are still reachable. */
const heap = async (): Promise<number> => {
  // Some objects are released only at the end of this turn of the event loop.
  await new Promise((resolve) => { setImmediate(resolve) })
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const SESSIONS = Number(process.env['STENOLOG_TEST_SESSIONS'] ?? 500)
/** Number of first rounds that are not measured, because they load and compile code. */
const WARM_UP = 2
const ROUNDS = 3

test('the heap returns to within 5 % after 500 sessions on a stalled store', async (t) => {
  t.timeout(600_000)
  const { path, remove } = await temporaryDirectory()
  // The log is on disk, because a log in memory would grow the heap.
  const store = await openSqliteEventStore({ file: join(path, 'events.sqlite') })
  const keyring = await openSqliteKeyring({ file: join(path, 'keyring.sqlite'), masterKey: randomBytes(32) })
  // Fills the key cache up to its limit, so it cannot grow later.
  await Promise.all(
    Array.from({ length: 10_001 }, async (_, n) => keyring.seal(`filler-${n}`, plainMembers(['text']))),
  )
  const world = await createStalledWorld(chanceOf(t).random('stall'), { store, keyring })
  t.teardown(async () => {
    await world.close()
    await Promise.all([store.close(), keyring.close()])
    await remove()
  })
  const sizes: Array<number> = []
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    const { created } = await world.round(`round-${round}`, SESSIONS)
    t.is(created, SESSIONS)
    await world.endAll()
    sizes.push(await heap())
  }
  const [before = 0, ...later] = sizes.slice(WARM_UP - 1)
  const shown = sizes.map((size) => (size / 2 ** 20).toFixed(2)).join(', ')
  t.log(`MB on the heap after each ${SESSIONS} sessions: ${shown}`)
  for (const size of later) t.true(size <= before * 1.05, `${size} bytes after ${before}`)
})
