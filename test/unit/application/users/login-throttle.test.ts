import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../../../application/ports/event-store.ts'
import { after } from '../../../support/events/sample-events.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createWorld, HOME } from './login-throttle-world.ts'

test('after five failures a name waits, twice as long after each further failure', async (t) => {
  const { attempt, attempts, pass, verifications } = createWorld()
  t.deepEqual(await attempts(6), ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'wait 1'])
  t.is(await attempt('right'), 'wait 1', 'the right password waits too')
  t.is(verifications(), 5)
  pass(1000)
  t.deepEqual(await attempts(2), ['wrong', 'wait 2'])
  pass(1999)
  t.is(await attempt('right'), 'wait 1')
  pass(1)
  t.is(await attempt('right'), 'in')
})

test('guesses at a name without any login leave no trace after a day', async (t) => {
  const inner = createMemoryEventStore()
  const kept = new Map<string, number | undefined>()
  const { attempt, attempts } = createWorld({
    ...inner,
    setMetadata: (stream, metadata) => {
      kept.set(stream, metadata.maxAgeSeconds)
      return inner.setMetadata(stream, metadata)
    },
  })
  await attempts(3, 'nobody')
  t.deepEqual([...kept.values()], [86_400, 86_400], 'the name and the network of the guesses')
  kept.clear()
  await attempt('right', 'ada')
  t.deepEqual([...kept.values()], [30 * 86_400], 'the network that is now trusted')
  kept.clear()
  await attempts(2, 'ada')
  t.deepEqual([...kept.values()].map(Number).toSorted((a, b) => a - b), [86_400, 30 * 86_400])
})

test('a success resets the count', async (t) => {
  const { attempt, attempts } = createWorld()
  await attempts(4)
  t.is(await attempt('right'), 'in')
  t.deepEqual(await attempts(5), ['wrong', 'wrong', 'wrong', 'wrong', 'wrong'])
})

test('failures are counted separately for each name', async (t) => {
  const { attempt, attempts } = createWorld()
  await attempts(6)
  t.is(await attempt('right', 'grace'), 'in')
})

test('an address with twenty failures within a minute waits, for any names', async (t) => {
  const { attempt, pass } = createWorld()
  for (let n = 0; n < 20; n += 1) {
    t.is(await attempt('guess', `user ${n}`), 'wrong')
    pass(1000)
  }
  t.is(await attempt('right', 'grace'), 'wait 40', 'until the first failure is a minute old')
  t.is(await attempt('right', 'grace', '198.51.100.7'), 'in', 'another address')
  pass(40_000)
  t.is(await attempt('right', 'grace'), 'in')
})

test('successes do not count', async (t) => {
  const { attempt } = createWorld()
  for (let n = 0; n < 60; n += 1) t.is(await attempt('right'), 'in')
})

test('simultaneous guesses are counted one by one', async (t) => {
  const { attempt, verifications } = createWorld()
  const answers = await Promise.all(Array.from({ length: 50 }, () => attempt('guess')))
  t.is(answers.filter((answer) => answer === 'wrong').length, 5)
  t.is(answers.filter((answer) => answer === 'wait 1').length, 45)
  t.is(verifications(), 5)
  const spread = await Promise.all(Array.from({ length: 50 }, (_, n) => attempt('guess', `user ${n}`)))
  t.is(spread.filter((answer) => answer === 'wrong').length, 15, 'the five earlier failures count too')
})

const OFFICE = '198.51.100.7'

test('guesses from other networks lock nobody out, however many they are', async (t) => {
  const { attempt, attempts, pass } = createWorld()
  for (let n = 0; n < 30; n += 1) {
    await attempts(6)
    pass(60_000)
  }
  t.regex(await attempt('right'), /^wait \d{3}$/, 'the network of the guesses waits')
  t.is(await attempt('guess', 'ada', OFFICE), 'wrong', 'another network starts without failures')
  t.is(await attempt('right', 'ada', '203.0.113.9'), 'in')
})

test('a network with an earlier login is judged by its own failures, also after a restart', async (t) => {
  const first = createWorld()
  t.is(await first.attempt('right', 'ada', OFFICE), 'in')
  const attack = async ({ attempt }: ReturnType<typeof createWorld>): Promise<void> => {
    for (let n = 0; n < 150; n += 1) await attempt('guess', 'ada', `203.0.${n}.1`)
  }
  await attack(first)
  t.is(await first.attempt('guess', 'ada', OFFICE), 'wrong')
  t.is(await first.attempt('right', 'ada', OFFICE), 'in')
  const second = createWorld(first.store)
  await attack(second)
  t.is(await second.attempt('guess', 'ada', OFFICE), 'wrong')
  t.is(await second.attempt('right', 'ada', OFFICE), 'in')
})

test('guesses at one name from many networks are bounded', async (t) => {
  const { attempt, pass, verifications } = createWorld()
  for (let minute = 0; minute < 60; minute += 1) {
    for (let n = 0; n < 50; n += 1) await attempt('guess', 'ada', `203.0.${minute}.${n}`)
    pass(60_000)
  }
  // At most a hundred guesses each 15 minutes, plus those between the doubling waits of the name.
  t.true(verifications() <= 420, `${verifications()} of 3000`)
  t.is(await attempt('right', 'grace', '203.0.1.1'), 'in', 'another name')
})

test('while a name waits, a network with a recent failure waits too; other networks do not', async (t) => {
  const { attempt, pass } = createWorld()
  for (let n = 0; n < 30; n += 1) t.is(await attempt('guess', 'ada', `203.0.113.${n}`), 'wrong')
  t.is(await attempt('right', 'ada', '203.0.113.1'), 'wait 900')
  t.is(await attempt('guess', 'ada', '203.0.113.200'), 'wrong', 'a network without failures does not wait')
  pass(900_000)
  t.is(await attempt('right', 'ada', '203.0.113.1'), 'in')
})

test('all networks of a /48 count as one', async (t) => {
  const { attempt } = createWorld()
  for (let n = 0; n < 5; n += 1) t.is(await attempt('guess', 'ada', `2001:db8:1:${n}::/64`), 'wrong')
  t.is(await attempt('right', 'ada', '2001:db8:1:ffff::/64'), 'wait 1')
  t.is(await attempt('right', 'ada', '2001:db8:2:0::/64'), 'in')
})

test('after a password change the count of wrong guesses starts at zero', async (t) => {
  const { attempt, attempts } = createWorld()
  await attempts(6)
  t.is(await attempt('right', 'ada', HOME, 0), 'wait 1')
  t.is(await attempt('right', 'ada', HOME, 1), 'in')
})

test('failures that an older version stored without a network count for the name', async (t) => {
  const store = createMemoryEventStore()
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(0) }
  const old = {
    id: '01890000-0000-7000-8000-000000000000',
    type: 'LoginFailed',
    data: { failures: 40, at: after(0) },
    metadata,
  }
  t.true(E.isRight(await store.append('login-failures-ada', 'no-stream', [old])))
  const { attempt } = createWorld(store)
  t.is(await attempt('guess'), 'wrong')
  t.is(await attempt('right'), 'wait 900')
  t.is(await attempt('right', 'ada', OFFICE), 'in')
  t.is(await attempt('right'), 'in')
})

test('beyond a hundred attempts in progress new attempts are refused immediately', async (t) => {
  const { attempt } = createWorld()
  const answers = await Promise.all(Array.from({ length: 150 }, () => attempt('right')))
  t.deepEqual(
    [answers.filter((answer) => answer === 'in').length, answers.filter((answer) => answer === 'TooBusy').length],
    [100, 50],
  )
  t.is(await attempt('right'), 'in')
})

test('a restart forgets no failure of a name, and each name keeps one event', async (t) => {
  const first = createWorld()
  await first.attempts(6)
  const { store } = first
  t.is(await createWorld(store).attempt('right'), 'wait 1')
  const events = await store.read('login-failures-ada')
  t.is(E.isRight(events) && events.right.length, 1)
})

test('in a store outage failures are counted in memory', async (t) => {
  const inner = createMemoryEventStore()
  let isUnavailable = false
  const unavailable = E.left({ _tag: 'StoreUnavailable' as const, reason: 'simulated' })
  const store: EventStore = {
    ...inner,
    append: async (...append) => (isUnavailable ? unavailable : inner.append(...append)),
    read: async (...read) => (isUnavailable ? unavailable : inner.read(...read)),
  }
  const { attempt, attempts, pass, logger } = createWorld(store)
  await attempts(2)
  isUnavailable = true
  t.deepEqual(await attempts(4), ['wrong', 'wrong', 'wrong', 'wait 1'])
  t.true(logger.lines.length > 0)
  isUnavailable = false
  t.is(await attempt('right'), 'wait 1', 'failures counted in memory still count')
  pass(1000)
  t.is(await attempt('right'), 'in')
  t.is(await attempt('right'), 'in')
})
