import test from 'ava'
import type { NewEvent } from '../../../../application/ports/event-store.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { after } from '../../../support/events/sample-events.ts'
import { right } from '../../../support/tools/right.ts'
import { createWorld, HOME } from '../users/login-throttle-world.ts'

const YEAR = 8766 * 3_600_000
const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: after(0) }
const PLACE = `login-failures-${createTestCredentials().keyedHash('login-place', `ada ${HOME}`)}`

const startAfter = async (...events: ReadonlyArray<Pick<NewEvent, 'type' | 'data'>>) => {
  const store = createMemoryEventStore()
  const id = '01890000-0000-7000-8000-000000000000'
  right(await store.append(PLACE, 'no-stream', events.map((event) => ({ ...event, id, metadata }))))
  return { ...createWorld(store), store }
}

test('failed logins that an older version dated a year ahead count as now', async (t) => {
  const { attempt, pass } = await startAfter({ type: 'LoginFailed', data: { failures: 10, at: after(YEAR) } })
  t.is(await attempt('right'), 'wait 32')
  pass(31_999)
  t.is(await attempt('right'), 'wait 1')
  pass(1)
  t.is(await attempt('right'), 'in')
})

test('a success that an older version dated a year ahead is dated right by the next one', async (t) => {
  const { attempt, store } = await startAfter({ type: 'LoginFailuresCleared', data: { at: after(YEAR) } })
  t.is(await attempt('right'), 'in')
  t.deepEqual(right(await store.read(PLACE)).at(-1)?.data, { at: after(0) })
})
