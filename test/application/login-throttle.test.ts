import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { EventStore } from '../../application/ports/event-store.ts'
import { createLoginThrottle } from '../../application/users/login-throttle.ts'
import { after } from '../domain/samples.ts'
import { immediateTimers as timers } from '../support/immediate-timers.ts'
import { createMemoryEventStore } from '../support/memory-event-store.ts'
import { createMemoryKeyring } from '../support/memory-keyring.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'
import { createTestEnvironment } from '../support/test-environment.ts'

const HOME = '192.0.2.1'

const createWorld = (store: EventStore = createMemoryEventStore()) => {
  let milliseconds = 0
  const inner = createTestEnvironment()
  const environment = { ...inner, now: () => after(milliseconds) }
  const pass = (more: number): void => {
    milliseconds += more
    inner.advance(more)
  }
  const logger = createRecordingLogger()
  const throttle = createLoginThrottle({ store, keyring: createMemoryKeyring(), environment, timers, logger, enabled: true })
  let verifications = 0
  const attempt = async (password: string, name = 'ada', address = HOME): Promise<string> => {
    const answer = await throttle(name, address, async () => {
      verifications += 1
      await Promise.resolve()
      return E.right(password === 'right' ? O.some('in') : O.none)
    })
    if (E.isLeft(answer)) return answer.left._tag === 'TooManyRequests' ? `wait ${answer.left.seconds}` : answer.left._tag
    return O.isSome(answer.right) ? 'in' : 'wrong'
  }
  const attempts = async (count: number, name?: string, address?: string): Promise<ReadonlyArray<string>> => {
    const answers: Array<string> = []
    for (let n = 0; n < count; n += 1) answers.push(await attempt('guess', name, address))
    return answers
  }
  return { attempt, attempts, pass, store, logger, verifications: () => verifications }
}

test('S24: after five failures a name waits, each further failure twice as long, and nothing is verified meanwhile', async (t) => {
  const { attempt, attempts, pass, verifications } = createWorld()
  t.deepEqual(await attempts(6), ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'wait 1'])
  t.is(await attempt('right'), 'wait 1', 'also who knows the password')
  t.is(verifications(), 5)
  pass(1000)
  t.deepEqual(await attempts(2), ['wrong', 'wait 2'])
  pass(1999)
  t.is(await attempt('right'), 'wait 1')
  pass(1)
  t.is(await attempt('right'), 'in')
})

test('S24: a success resets the count', async (t) => {
  const { attempt, attempts } = createWorld()
  await attempts(4)
  t.is(await attempt('right'), 'in')
  t.deepEqual(await attempts(5), ['wrong', 'wrong', 'wrong', 'wrong', 'wrong'])
})

test('S24: names are counted apart', async (t) => {
  const { attempt, attempts } = createWorld()
  await attempts(6)
  t.is(await attempt('right', 'grace'), 'in')
})

test('S24: an address that failed twenty times within a minute waits, whatever the names', async (t) => {
  const { attempt, pass } = createWorld()
  for (let n = 0; n < 20; n += 1) {
    t.is(await attempt('guess', `user ${n}`), 'wrong')
    pass(1000)
  }
  t.is(await attempt('right', 'grace'), 'wait 40', 'until the first of them is a minute old')
  t.is(await attempt('right', 'grace', '198.51.100.7'), 'in', 'another address')
  pass(40_000)
  t.is(await attempt('right', 'grace'), 'in')
})

test('S24: successes count for nothing', async (t) => {
  const { attempt } = createWorld()
  for (let n = 0; n < 60; n += 1) t.is(await attempt('right'), 'in')
})

test('S24: guesses that come together are counted one by one', async (t) => {
  const { attempt, verifications } = createWorld()
  const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => attempt('guess', 'ada', `198.51.100.${n}`)))
  t.is(answers.filter((answer) => answer === 'wrong').length, 5)
  t.is(answers.filter((answer) => answer === 'wait 1').length, 45)
  t.is(verifications(), 5)
  const spread = await Promise.all(Array.from({ length: 50 }, (_, n) => attempt('guess', `user ${n}`)))
  t.is(spread.filter((answer) => answer === 'wrong').length, 20)
})

test('S13: of more than a hundred attempts in hand the last are refused at once', async (t) => {
  const { attempt } = createWorld()
  const answers = await Promise.all(Array.from({ length: 150 }, () => attempt('right')))
  t.deepEqual([answers.filter((answer) => answer === 'in').length, answers.filter((answer) => answer === 'TooBusy').length], [100, 50])
  t.is(await attempt('right'), 'in')
})

test('S24: a restart forgets no failure of a name, and one event a name is kept', async (t) => {
  const first = createWorld()
  await first.attempts(6)
  const { store } = first
  t.is(await createWorld(store).attempt('right'), 'wait 1')
  const events = await store.read('login-failures-ada')()
  t.is(E.isRight(events) && events.right.length, 1)
})

test('S24: while the store is away failures are counted in memory', async (t) => {
  const inner = createMemoryEventStore()
  let isAway = false
  const away = TE.left({ _tag: 'StoreUnavailable' as const, reason: 'the test says so' })
  const store: EventStore = {
    ...inner,
    append: (...append) => (isAway ? away : inner.append(...append)),
    read: (...read) => (isAway ? away : inner.read(...read)),
  }
  const { attempt, attempts, pass, logger } = createWorld(store)
  await attempts(2)
  isAway = true
  t.deepEqual(await attempts(4), ['wrong', 'wrong', 'wrong', 'wait 1'])
  t.true(logger.lines.length > 0)
  isAway = false
  t.is(await attempt('right'), 'wait 1', 'what was counted in memory counts on')
  pass(1000)
  t.is(await attempt('right'), 'in')
  t.is(await attempt('right'), 'in')
})
