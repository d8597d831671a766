import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { SHARED_FAILURES, sharedFailuresStream } from '../../../../domain/login/events.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createWorld } from './login-throttle-world.ts'

test('invented names and many networks share a fixed number of streams of a fixed size', async (t) => {
  const inner = createMemoryEventStore()
  const streams = new Set<string>()
  const { attempt } = createWorld({
    ...inner,
    append: (stream, expected, events) => {
      streams.add(stream)
      return inner.append(stream, expected, events)
    },
  })
  for (let n = 0; n < 1500; n += 1) t.is(await attempt('guess', `nobody ${n}`, `10.0.${n >> 8}.${n & 255}`), 'wrong')
  for (let n = 0; n < 300; n += 1) await attempt('guess', 'ada', `10.1.${n >> 8}.${n & 255}`)
  t.true(streams.size <= 1025, `${streams.size} streams`)

  const [full = ''] = streams
  for (let n = 0, found = 0; found < 2 * SHARED_FAILURES; n += 1) {
    if (sharedFailuresStream(`crowd ${n}`) !== full) continue
    found += 1
    t.is(await attempt('guess', `crowd ${n}`, `10.2.0.${found}`), 'wrong')
  }
  const events = await inner.read(full)
  t.is(E.isRight(events) && events.right.length, SHARED_FAILURES)
})

test('failures of an unknown name count like those of a user, also after a restart', async (t) => {
  const first = createWorld()
  t.deepEqual(await first.attempts(6, 'nobody'), ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'wait 1'])
  const second = createWorld(first.store)
  t.is(await second.attempt('guess', 'nobody'), 'wait 1')
  second.pass(1000)
  t.deepEqual(await second.attempts(2, 'nobody'), ['wrong', 'wait 2'])
  for (let n = 0; n < 20; n += 1) await second.attempt('guess', 'nobody', `203.0.113.${n}`)
  const third = createWorld(first.store)
  third.pass(1000)
  t.regex(await third.attempt('guess', 'nobody', '203.0.113.1'), /^wait \d+$/, 'all networks count together')
})

test('a login makes a network trusted although its failures were counted among those of others', async (t) => {
  const first = createWorld()
  t.deepEqual(await first.attempts(4), ['wrong', 'wrong', 'wrong', 'wrong'])
  t.is(await first.attempt('right'), 'in')
  const second = createWorld(first.store)
  t.deepEqual(await second.attempts(6), ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'wait 1'])
  const third = createWorld(first.store)
  t.is(await third.attempt('right'), 'wait 1')
  third.pass(1000)
  t.is(await third.attempt('right'), 'in')
})
