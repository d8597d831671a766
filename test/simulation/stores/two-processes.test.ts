import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { createMemoryLeases } from '../../support/doubles/memory/leases.ts'
import { right } from '../../support/tools/right.ts'
import { percentile, visibilityDelay } from '../../support/tools/visibility-delay.ts'
import { callerOf, startTokenWorld } from '../../support/worlds/token-world.ts'
import { ada } from '../../support/worlds/user-world.ts'

const ADDRESS = '192.0.2.1'
const ROUNDS = 50

const describe = (delays: ReadonlyArray<number>): string =>
  [0.5, 0.99].map((share) => `${percentile(delays, share).toFixed(1)} ms (p${share * 100})`).join(', ')

/** Starts two processes on the same log, keys and read models. The first runs the projections. */
const startTwo = async (t: ExecutionContext) => {
  const leases = createMemoryLeases()
  const shared = { store: createMemoryEventStore(), keyring: createMemoryKeyring(), documents: createMemoryDocuments() }
  const a = await startTokenWorld(t, { ...shared, leases: leases.of('a') })
  const b = await startTokenWorld(t, { ...shared, leases: leases.of('b') })
  t.teardown(() => Promise.all([a.stop(), b.stop()]))
  return { a, b }
}

test('a change of users and tokens in one process is known in the other, also in its cache', async (t) => {
  const { a, b } = await startTwo(t)
  const userId = await a.register('Ada')
  const delays: Array<number> = []
  const measure = async (write: () => Promise<unknown>, isSeen: () => Promise<boolean>) =>
    void delays.push(await visibilityDelay(write, isSeen))
  await measure(
    async () => undefined,
    async () => E.isRight(await b.authentication.logIn('Ada', ada.password, ADDRESS)),
  )
  for (let maxSessions = 1; maxSessions <= ROUNDS; maxSessions++)
    await measure(
      async () =>
        right(await a.changes.changeUser({ ...callerOf(9), permissions: ['admin'] }, userId, { maxSessions })),
      async () => right(await b.changes.whoAmI(callerOf(userId))).maxSessions === maxSessions,
    )
  const { secret, token: { id } } = right(await a.tokens.issueToken(callerOf(userId), { name: 'key', expiresAt: null }))
  const knows = async () => O.isSome(right(await b.authenticateKey(secret)))
  await measure(async () => undefined, knows)
  await measure(async () => right(await a.tokens.revokeToken(callerOf(userId), id)), async () => !(await knows()))
  t.log(`known in the other process after ${describe(delays)}`)
  t.is(delays.length, ROUNDS + 3)
})

test('a process whose lists another process updates shows the writes of both processes', async (t) => {
  const { a, b } = await startTwo(t)
  const names = async ({ users }: typeof a) =>
    right(await users.listUsers({ skip: 0, limit: 100 })).items.map(({ username }) => username)
  const delays: Array<number> = []
  for (let n = 1; n <= ROUNDS / 2; n++) {
    await b.register(`of b ${n}`)
    t.true((await names(b)).includes(`of b ${n}`))
    delays.push(
      await visibilityDelay(
        () => a.register(`of a ${n}`),
        async () => (await names(b)).includes(`of a ${n}`),
      ),
    )
  }
  t.is(b.projector.timeouts(), 0)
  t.log(`listed in the other process after ${describe(delays)}`)
})
