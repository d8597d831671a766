import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { instant } from '../../../../domain/shared/codecs.ts'
import { createEnvironment } from '../../../../infrastructure/process/clock-and-ids.ts'

test('the clock returns increasing timestamps with microseconds', (t) => {
  const { now } = createEnvironment()
  const instants = Array.from({ length: 20_000 }, now)
  t.true(instants.every((value) => E.isRight(instant.decode(value))))
  t.true(instants.every((value, index) => index === 0 || (instants[index - 1] ?? '') <= value))
  t.true(new Set(instants.map((value) => value.slice(23, 26))).size > 1, 'instants have digits below the millisecond')
  t.true(Math.abs(Date.parse(now()) - Date.now()) < 60_000)
})

test('ids are ordered UUIDs of version 7, secrets have 256 random bits, the instance id stays the same', (t) => {
  const environment = createEnvironment()
  const ids = Array.from({ length: 2000 }, environment.newId)
  t.true(ids.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id)))
  t.deepEqual(ids.toSorted(), ids)
  t.is(new Set(ids).size, 2000)
  t.regex(environment.newSecret(), /^[A-Za-z0-9_-]{43}$/)
  t.not(environment.newSecret(), environment.newSecret())
  t.is(environment.instance, environment.instance)
  t.not(environment.instance, createEnvironment().instance)
  t.true(environment.monotonic() <= environment.monotonic())
})
