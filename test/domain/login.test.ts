import test from 'ava'
import { loginFailuresDecider, waitAfter } from '../../domain/login/decider.ts'
import type { LoginFailuresEvent } from '../../domain/login/events.ts'
import { specify } from '../support/specify.ts'
import { after } from './samples.ts'

const failed = (failures: number): LoginFailuresEvent => ({ type: 'LoginFailed', data: { failures, at: after(0) } })
const cleared: LoginFailuresEvent = { type: 'LoginFailuresCleared', data: { at: after(0) } }

test('S24: failures are counted until a success clears them', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  given().when({ type: 'Fail', at: after(0) }).thenEvents(failed(1))
  given(failed(1)).when({ type: 'Fail', at: after(0) }).thenEvents(failed(2))
  given(failed(6)).when({ type: 'Clear', at: after(0) }).thenEvents(cleared)
  given(failed(6), cleared).when({ type: 'Fail', at: after(0) }).thenEvents(failed(1))
})

test('S24: a success without a failure before it leaves no trace', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  given().when({ type: 'Clear', at: after(0) }).thenNothing()
  given(cleared).when({ type: 'Clear', at: after(0) }).thenNothing()
})

test('S24: only the newest event of a name is needed', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  given(failed(9)).when({ type: 'Fail', at: after(0) }).thenEvents(failed(10))
})

test('S24: from the fifth failure on the wait doubles from 1 s to 15 minutes', (t) => {
  const waits = [0, 1, 4, 5, 6, 7, 14, 15, 16, 1000].map((failures) => waitAfter({ failures, at: after(0) }, after(0)))
  t.deepEqual(waits, [0, 0, 0, 1000, 2000, 4000, 512_000, 900_000, 900_000, 900_000])
})

test('S24: the wait passes, and a clock that was set back ends it', (t) => {
  const failures = { failures: 6, at: after(10_000) }
  t.is(waitAfter(failures, after(11_500)), 500)
  t.is(waitAfter(failures, after(12_000)), 0)
  t.is(waitAfter(failures, after(60_000)), 0)
  t.is(waitAfter(failures, after(9000)), 0)
})
