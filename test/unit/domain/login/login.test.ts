import test from 'ava'
import {
  hasNoRecentFailure,
  isTrusted,
  loginFailuresDecider,
  networkWaitMs,
  nameWaitMs,
  sharedFailuresDecider,
} from '../../../../domain/login/decider.ts'
import type { LoginFailuresEvent, UnknownLoginFailed } from '../../../../domain/login/events.ts'
import { loginTokenDecider } from '../../../../domain/login/login-token.ts'
import { specify } from '../../../support/tools/specify.ts'
import { after } from '../../../support/events/sample-events.ts'

const failed = (failures: number): LoginFailuresEvent => ({ type: 'LoginFailed', data: { failures, at: after(0) } })
const cleared: LoginFailuresEvent = { type: 'LoginFailuresCleared', data: { at: after(0) } }

test('failures are counted until a success clears them', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  given().when({ type: 'Fail', at: after(0) }).thenEvents(failed(1))
  given(failed(1)).when({ type: 'Fail', at: after(0) }).thenEvents(failed(2))
  given(failed(6)).when({ type: 'Clear', at: after(0) }).thenEvents(cleared)
  given(failed(6), cleared).when({ type: 'Fail', at: after(0) })
    .thenEvents({ type: 'LoginFailed', data: { failures: 1, at: after(0), succeededAt: after(0) } })
})

test('a token is logged out once', (t) => {
  const { given } = specify(t, loginTokenDecider)
  const data = { userId: 3, at: after(0) }
  given().when(data).thenEvents({ type: 'LoggedOut', data })
  given({ type: 'LoggedOut', data }).when({ userId: 3, at: after(5) }).thenNothing()
})

test('a success without an earlier failure leaves no trace', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  given().when({ type: 'Clear', at: after(0) }).thenNothing()
  given(cleared).when({ type: 'Clear', at: after(0) }).thenNothing()
})

test('the newest event is enough to continue the count', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  given(failed(9)).when({ type: 'Fail', at: after(0) }).thenEvents(failed(10))
})

test('from the fifth failure on the wait doubles from 1 s to 15 minutes', (t) => {
  const waits = [0, 1, 4, 5, 6, 7, 14, 15, 16, 1000].map((failures) =>
    networkWaitMs({ failures, age: 0, successAge: Infinity }),
  )
  t.deepEqual(waits, [0, 0, 0, 1000, 2000, 4000, 512_000, 900_000, 900_000, 900_000])
})

test('the remaining wait shrinks with time', (t) => {
  const waits = [0, 1500, 2000, 60_000].map((age) => networkWaitMs({ failures: 6, age, successAge: Infinity }))
  t.deepEqual(waits, [2000, 500, 0, 0])
})

const DAY = 24 * 3_600_000
const succeeded = (milliseconds: number): LoginFailuresEvent => ({
  type: 'LoginFailuresCleared',
  data: { at: after(milliseconds) },
})

test('a success is recorded once a day, and a later failure does not erase it', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  given().when({ type: 'Succeed', at: after(0) }).thenEvents(succeeded(0))
  given(succeeded(0)).when({ type: 'Succeed', at: after(DAY - 1) }).thenNothing()
  given(succeeded(0)).when({ type: 'Succeed', at: after(DAY) }).thenEvents(succeeded(DAY))
  given(succeeded(400 * DAY)).when({ type: 'Succeed', at: after(0) }).thenEvents(succeeded(0))
  const event: LoginFailuresEvent = { type: 'LoginFailed', data: { failures: 1, at: after(5), succeededAt: after(0) } }
  given(succeeded(0)).when({ type: 'Fail', at: after(5) }).thenEvents(event)
  given(event)
    .when({ type: 'Fail', at: after(6) })
    .thenEvents({ type: 'LoginFailed', data: { failures: 2, at: after(6), succeededAt: after(0) } })
})

test('after a day without a failure the count restarts at one', (t) => {
  const { given } = specify(t, loginFailuresDecider)
  const failedAt = (at: number, failures: number): LoginFailuresEvent => ({
    type: 'LoginFailed',
    data: { failures, at: after(at) },
  })
  given(failed(9)).when({ type: 'Fail', at: after(DAY - 1) }).thenEvents(failedAt(DAY - 1, 10))
  given(failed(9)).when({ type: 'Fail', at: after(DAY) }).thenEvents(failedAt(DAY, 1))
})

test('a name waits from its twentieth failure, across all networks', (t) => {
  const waits = [19, 20, 21, 30, 1000].map((failures) =>
    nameWaitMs({ failures, age: 0, successAge: Infinity }),
  )
  t.deepEqual(waits, [0, 1000, 2000, 900_000, 900_000])
})

test('a network is trusted for 30 days after a success; a failure is recent for 15 minutes', (t) => {
  const count = { failures: 9, age: 0, successAge: 0 }
  t.deepEqual([30 * DAY - 1, 30 * DAY, Infinity].map((successAge) => isTrusted({ ...count, successAge })),
    [true, false, false])
  t.deepEqual([899_999, 900_000].map((age) => hasNoRecentFailure({ ...count, age })), [false, true])
  t.true(hasNoRecentFailure({ ...count, failures: 0 }))
})

test('a shared stream counts each hash separately, and continues a count that is known from elsewhere', (t) => {
  const { given } = specify(t, sharedFailuresDecider)
  const fail = (hash: string, at: number, before = loginFailuresDecider.initialState) =>
    ({ hash, before, at: after(at) })
  const failedOf = (hash: string, failures: number, at: number): UnknownLoginFailed =>
    ({ type: 'UnknownLoginFailed', data: { hash, failures, at: after(at) } })
  given().when(fail('a', 0)).thenEvents(failedOf('a', 1, 0))
  given(failedOf('a', 4, 0), failedOf('b', 1, 1)).when(fail('a', 2)).thenEvents(failedOf('a', 5, 2))
  given(failedOf('a', 4, 0)).when(fail('a', DAY)).thenEvents(failedOf('a', 1, DAY))
  const before = { failures: 7, at: after(1), succeededAt: null }
  given(failedOf('a', 4, 0)).when(fail('a', 2, before)).thenEvents(failedOf('a', 8, 2))
  given(failedOf('a', 9, 2)).when(fail('a', 3, before)).thenEvents(failedOf('a', 10, 3))
})
