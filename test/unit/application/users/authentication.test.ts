import { mock } from 'node:test'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Caller } from '../../../../application/caller.ts'
import type { Credentials, ShownJwt } from '../../../../application/ports/credentials.ts'
import { sendToUser } from '../../../../application/log/send-to.ts'
import { BEGINNING, type EventStore, type StreamMetadata } from '../../../../application/ports/event-store.ts'
import { logIn } from '../../../../application/users/commands/log-in.ts'
import { startLoginDirectory } from '../../../../application/users/policies/login-directory.ts'
import { createRehash } from '../../../../application/users/policies/rehash.ts'
import type { UserCommand } from '../../../../domain/user/decider.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { createTestEnvironment } from '../../../support/doubles/environment.ts'
import { ada, startUserWorld } from '../../../support/worlds/user-world.ts'

const startWithAda = async (t: Parameters<typeof startUserWorld>[0]) => {
  const store = createMemoryEventStore()
  const keyring = createMemoryKeyring()
  const environment = createTestEnvironment()
  const world = await startUserWorld(t, { store, keyring })
  const user = right(await world.users.registerUser({ ...ada, permissions: ['admin'] }, 'setup'))
  const change = async (command: UserCommand): Promise<void> => {
    const origin = { commandId: environment.newId(), correlationId: 'c', actor: 'service' }
    const send = sendToUser({ store, keyring, environment, timers: immediateTimers })
    const { position } = right(await send(user.id, command, origin))
    if (position !== null) await world.directory.whenSeen(position)
  }
  return { ...world, user, change, store, keyring }
}

const ADDRESS = '192.0.2.1'
const wrong = E.left({ _tag: 'WrongLogin' })
const tokenOf = (token: E.Either<unknown, string>): string => right(token)

test('the token of a login identifies the user', async (t) => {
  const { authentication, user } = await startWithAda(t)
  const token = tokenOf(await authentication.logIn('Ada', ada.password, ADDRESS))
  const { tokenId, expiresAt } = JSON.parse(token) as ShownJwt
  const expected: Caller = {
    userId: user.id, permissions: ['admin'], maxSessions: 10, maxTranslations: 5, credential: 'jwt',
    login: { tokenId, expiresAt },
  }
  t.deepEqual(await authentication.authenticate(token), E.right(O.some(expected)))
})

test('unknown names, wrong passwords and disabled users get the same answer at the same cost', async (t) => {
  const { authentication, credentials, change } = await startWithAda(t)
  t.deepEqual(await authentication.logIn('Ada', 'wrong', ADDRESS), wrong)
  t.deepEqual(await authentication.logIn('ada', ada.password, ADDRESS), wrong)
  t.deepEqual(await authentication.logIn('nobody', ada.password, ADDRESS), wrong)
  await change({ type: 'Change', changes: { isActive: false } })
  t.deepEqual(await authentication.logIn('Ada', ada.password, ADDRESS), wrong)
  t.is(credentials.verifications.length, 4, 'each attempt costs a verification')
})

test('a user name with an accent can log in with every encoding of the accent', async (t) => {
  const { authentication, users } = await startWithAda(t)
  right(await users.registerUser({ ...ada, username: 'Zoë' }, 'setup'))
  t.true(E.isRight(await authentication.logIn('Zoe\u0308', ada.password, ADDRESS)))
})

test('a log-in with a very long name of combining marks costs no more than a short one', async (t) => {
  const { authentication } = await startWithAda(t)
  const marks = `a${'\u0301'.repeat(4000)}${'\u0316'.repeat(4000)}`
  const normalize = mock.method(String.prototype, 'normalize')
  t.teardown(() => normalize.mock.restore())
  t.true(E.isLeft(await authentication.logIn(marks, ada.password, ADDRESS)))
  const lengths = normalize.mock.calls.map((call) => String(call.this).length)
  t.true(lengths.length > 0 && Math.max(...lengths) <= 500, lengths.join())
})

test('malformed tokens and tokens of unknown users are refused', async (t) => {
  const { authentication } = await startWithAda(t)
  t.deepEqual(await authentication.authenticate('no token'), E.right(O.none))
  t.deepEqual(await authentication.authenticate(JSON.stringify({ userId: 999, generation: 0 })), E.right(O.none))
})

test('a new password ends the tokens of the old one', async (t) => {
  const { authentication, change } = await startWithAda(t)
  const old = tokenOf(await authentication.logIn('Ada', ada.password, ADDRESS))
  await change({ type: 'ChangePassword', passwordHash: 'hash of another' })
  t.deepEqual(await authentication.authenticate(old), E.right(O.none))
  t.deepEqual(await authentication.logIn('Ada', ada.password, ADDRESS), wrong)
  t.true(
    O.isSome(right(await authentication.authenticate(tokenOf(await authentication.logIn('Ada', 'another', ADDRESS))))),
  )
})

/** Starts two processes on one log; Ada can log in and out in the first. */
const startTwo = async (t: Parameters<typeof startUserWorld>[0]) => {
  const first = await startWithAda(t)
  const second = await startUserWorld(t, { store: first.store, keyring: first.keyring })
  const { logIn, logOut } = first.authentication
  const knownBy = async ({ authentication }: Pick<typeof first, 'authentication'>, token: string): Promise<boolean> =>
    O.isSome(right(await authentication.authenticate(token)))
  return {
    ...first,
    second,
    login: async () => tokenOf(await logIn('Ada', ada.password, ADDRESS)),
    logOut: async (token: string, everywhere: boolean) => {
      const caller = right(await first.authentication.authenticate(token))
      if (O.isNone(caller)) throw new Error('the token is invalid')
      right(await logOut(caller.value, everywhere))
    },
    isKnownHere: (token: string) => knownBy(first, token),
    isKnownThere: (token: string) => knownBy(second, token),
  }
}

test('a log-out ends only its token, in other processes and after a restart, and is one event', async (t) => {
  const world = await startTwo(t)
  const [ended, remaining] = [await world.login(), await world.login()]
  t.true(await world.isKnownThere(ended))
  await Promise.all([world.logOut(ended, false), world.logOut(ended, false)])
  t.false(await world.isKnownHere(ended))
  await eventually(async () => t.false(await world.isKnownThere(ended)))
  t.deepEqual([await world.isKnownHere(remaining), await world.isKnownThere(remaining)], [true, true])
  const later = await startUserWorld(t, { store: world.store, keyring: world.keyring })
  t.deepEqual(right(await later.authentication.authenticate(ended)), O.none)
  const { tokenId } = JSON.parse(ended) as ShownJwt
  t.deepEqual(
    right(await world.store.read(`login-token-${tokenId}`)).map(({ type }) => type),
    ['LoggedOut'],
  )
})

test('the record of a log-out stays at least ten minutes longer than its token is valid', async (t) => {
  const kept: Array<readonly [string, StreamMetadata]> = []
  const setMetadata: EventStore['setMetadata'] = async (stream, metadata) => {
    kept.push([stream, metadata])
    return E.right(undefined)
  }
  const world = await startUserWorld(t, { store: { ...createMemoryEventStore(), setMetadata } })
  right(await world.users.registerUser(ada, 'setup'))
  const token = tokenOf(await world.authentication.logIn('Ada', ada.password, ADDRESS))
  const caller = right(await world.authentication.authenticate(token))
  if (O.isSome(caller)) right(await world.authentication.logOut(caller.value, false))
  const { tokenId, expiresAt } = JSON.parse(token) as ShownJwt
  const [, metadata] = kept.find(([stream]) => stream === `login-token-${tokenId}`) ?? []
  const secondsLeft = expiresAt - Date.parse('2026-11-21T09:30:00Z') / 1000
  t.is(metadata?.maxAgeSeconds, secondsLeft + 600)
})

test('a log-out everywhere ends every login of the user and keeps the password', async (t) => {
  const world = await startTwo(t)
  const [first, second] = [await world.login(), await world.login()]
  await world.logOut(first, true)
  for (const token of [first, second]) t.false(await world.isKnownHere(token))
  await eventually(async () => t.false(await world.isKnownThere(second)))
  t.true(await world.isKnownHere(await world.login()))
})

test('an unreadable log-out makes the answer unavailable; a damaged record counts as a log-out', async (t) => {
  const unavailable = { _tag: 'StoreUnavailable', reason: 'simulated' } as const
  const damaged = { _tag: 'LogCorrupted', reason: 'simulated' } as const
  const { write, logger, environment } = await startWithAda(t)
  const answerOf = async (left: typeof unavailable | typeof damaged) => {
    const stop = new AbortController()
    t.teardown(() => { stop.abort() })
    const store = { ...write.store, read: async () => E.left(left) }
    const logins = startLoginDirectory({
      store,
      from: BEGINNING,
      logger,
      environment,
      timers: immediateTimers,
      signal: stop.signal,
    })
    return await logins.isLoggedOut('a token')
  }
  t.deepEqual(await answerOf(unavailable), E.left(unavailable))
  t.deepEqual(await answerOf(damaged), E.right(true))
})

test('a login with an outdated password hash stores a current hash, and every login succeeds', async (t) => {
  const { authentication, change, store, user, directory, rehash, credentials } = await startWithAda(t)
  await change({ type: 'ChangePassword', passwordHash: 'old hash of another' })
  const login = () => authentication.logIn('Ada', 'another', ADDRESS)
  t.deepEqual(await authentication.logIn('Ada', 'wrong', ADDRESS), wrong)
  await rehash.settled()
  const types = async () => right(await store.read(`user-${user.id}`)).map(({ type }) => type)
  t.deepEqual(await types(), ['UserRegistered', 'PasswordChanged'], 'a wrong password stores no hash')

  const before = await Promise.all([login(), login()])
  await rehash.settled()
  t.deepEqual(await types(), ['UserRegistered', 'PasswordChanged', 'PasswordRehashed'])
  await directory.whenSeen(right(await store.head()))
  const after = await login()
  t.deepEqual(credentials.verifications.at(-1), O.some('hash of another'))
  for (const token of [...before, after]) t.true(O.isSome(right(await authentication.authenticate(tokenOf(token)))))
  await rehash.settled()
  t.is((await types()).length, 3, 'a current hash is not replaced')
})

test('a login does not wait for its new hash, and a failed or late hash changes nothing', async (t) => {
  const { change, store, keyring, user, environment, directory, credentials, logger, throttle } =
    await startWithAda(t)
  await change({ type: 'ChangePassword', passwordHash: 'old hash of another' })
  const loginWith = async (hashPassword: Credentials['hashPassword']) => {
    const hashing = { ...credentials, hashPassword }
    const rehash = createRehash({ store, keyring, environment, timers: immediateTimers, credentials: hashing, logger })
    const attempt = logIn({ directory, credentials, throttle, rehash })
    t.true(E.isRight(await attempt('Ada', 'another', ADDRESS)))
    return rehash
  }
  await (await loginWith(async () => E.left({ _tag: 'TooBusy' }))).settled()
  await (await loginWith(() => Promise.reject(new Error('no memory')))).settled()
  t.deepEqual(logger.lines.map(({ level }) => level), ['warn', 'error'])

  const hashed = Promise.withResolvers<E.Either<never, string>>()
  const slowHash = await loginWith(() => hashed.promise)
  await change({ type: 'ChangePassword', passwordHash: 'hash of a third' })
  hashed.resolve(E.right('hash of another'))
  await slowHash.settled()
  const types = right(await store.read(`user-${user.id}`)).map(({ type }) => type)
  t.deepEqual(types, ['UserRegistered', 'PasswordChanged', 'PasswordChanged'])
})

test('a user who is disabled and enabled again needs a new login', async (t) => {
  const { authentication, change } = await startWithAda(t)
  const token = tokenOf(await authentication.logIn('Ada', ada.password, ADDRESS))
  await change({ type: 'Change', changes: { isActive: false } })
  t.deepEqual(await authentication.authenticate(token), E.right(O.none))
  await change({ type: 'Change', changes: { isActive: true } })
  t.deepEqual(await authentication.authenticate(token), E.right(O.none))
  const newToken = tokenOf(await authentication.logIn('Ada', ada.password, ADDRESS))
  t.true(O.isSome(right(await authentication.authenticate(newToken))))
})

test('a user with an erased key cannot log in after a restart', async (t) => {
  const { store, keyring, stop, user } = await startWithAda(t)
  await stop()
  right(await keyring.erase([`user-${user.id}`]))
  const { authentication, credentials } = await startUserWorld(t, { store, keyring })
  t.deepEqual(await authentication.logIn('Ada', ada.password, ADDRESS), wrong)
  t.deepEqual(credentials.verifications, [O.none])
})
