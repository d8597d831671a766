import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import { logOut } from '../../../../application/users/commands/log-out.ts'
import { createCredentials } from '../../../../infrastructure/keys/credentials.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { after } from '../../../support/events/sample-events.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf } from '../../../support/worlds/token-world.ts'
import { startUserWorld } from '../../../support/worlds/user-world.ts'
import { accepts, startWithToken } from '../tokens/token-owner.ts'
import { FAULTS, faultyClock } from './faulty-clock.ts'

const HOUR = 3_600_000
const YEAR = 8766 * HOUR
const jwtTtlSeconds = 2 * 3600

/** Logins of a service with a clock that the test sets. */
const loginsAt = (clock: ReturnType<typeof faultyClock>) =>
  createCredentials({ masterKey: Buffer.alloc(32, 7), jwtTtlSeconds, environment: clock.environment })

for (const { fault, wrongBy } of FAULTS)
  test(`logins and API tokens follow the wall clock, but lose nothing for good when ${fault}`, async (t) => {
    const clock = faultyClock()
    const { signJwt, verifyJwt } = loginsAt(clock)
    const jwt = await signJwt({ userId: 3, generation: 0 })
    const { authenticateKey, tokens, caller, uses, setClock } = await startWithToken(t)
    const expiresAt = after(jwtTtlSeconds * 1000)
    setClock(after(0))
    const { secret } = right(await tokens.issueToken(caller, { name: 'short', expiresAt }))
    const areValid = async (): Promise<ReadonlyArray<boolean>> =>
      [O.isSome(await verifyJwt(jwt)), await accepts(authenticateKey, secret)]
    const set = (ms: number): void => {
      clock.set(ms)
      setClock(after(ms))
    }
    set(wrongBy)
    t.deepEqual(await areValid(), wrongBy < jwtTtlSeconds * 1000 ? [true, true] : [false, false])
    set(0)
    t.deepEqual(await areValid(), [true, true])
    await uses.settled()
  })

test('a use of an API token that was recorded while the clock was ahead is corrected a minute later', async (t) => {
  const { authenticateKey, secret, uses, setClock, environment, usesInLog } = await startWithToken(t)
  const useAt = async (ms: number): Promise<ReadonlyArray<unknown>> => {
    setClock(after(ms))
    t.true(await accepts(authenticateKey, secret))
    await uses.settled()
    return await usesInLog()
  }
  t.deepEqual(await useAt(YEAR), [after(YEAR)])
  environment.advance(60_000)
  t.deepEqual(await useAt(60_000), [after(60_000)])
})

for (const [issued, loggedOut, situation] of [
  [0, HOUR, 'while the clock is an hour ahead'],
  [YEAR, YEAR, 'while the clock is a year ahead, where it was issued too'],
  [YEAR, 0, 'after the clock was set right, and was issued while it was a year ahead'],
  [-HOUR, 0, 'after the clock was set right, and was issued while it was an hour behind'],
  [0, -HOUR, 'while the clock is an hour behind'],
] as const)
  test(`a login that ends ${situation} never becomes valid again`, async (t) => {
    const clock = faultyClock()
    const { signJwt, verifyJwt } = loginsAt(clock)
    const store = createMemoryEventStore(clock.storeNow)
    const world = await startUserWorld(t, { store })
    clock.set(issued)
    const jwt = await signJwt({ userId: 3, generation: 0 })
    clock.set(loggedOut)
    const login = O.toUndefined(await verifyJwt(jwt))
    t.truthy(login)
    const logins = { whenSeen: async () => undefined }
    const end = logOut({ ...world.write, ...world, environment: clock.environment, logins, jwtTtlSeconds })
    right(await end({ ...callerOf(3), ...(login && { login }) }, false))
    clock.set(0)
    clock.advance((login?.expiresAt ?? 0) * 1000 - clock.storeNow())
    t.true(O.isSome(await verifyJwt(jwt)), 'its signature is valid until its end')
    const record = right(await store.read(`login-token-${login?.tokenId}`))
    t.deepEqual(record.map(({ type }) => type), ['LoggedOut'])
  })
