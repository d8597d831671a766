import test from 'ava'
import { idempotencyKeyDecider } from '../../../domain/idempotency/decider.ts'
import type { IdempotencyKeyCommand } from '../../../domain/idempotency/decider.ts'
import type { IdempotencyKeyAdmitted, IdempotencyKeyUsed } from '../../../domain/idempotency/events.ts'
import { fold } from '../../../domain/shared/decider.ts'
import { specify } from '../../support/tools/specify.ts'
import { after } from '../../support/events/sample-events.ts'

const DAY = 24 * 60 * 60 * 1000
const used = (requestHash: string, at: number, commandId = `command at ${at}`): IdempotencyKeyUsed =>
  ({ type: 'IdempotencyKeyUsed', data: { userId: 3, commandId, requestHash, at: after(at) } })
const use = (requestHash: string, at: number): IdempotencyKeyCommand => ({ type: 'Use', ...used(requestHash, at).data })
const admitted = (liveId: number): IdempotencyKeyAdmitted => ({
  type: 'IdempotencyKeyAdmitted',
  data: { liveId, at: after(1) },
})
const admit = (liveId: number, before: number | null): IdempotencyKeyCommand => ({
  type: 'Admit',
  liveId,
  before,
  at: after(1),
})

test('the first request with a key is recorded, a repeat within 24 hours is not [R76]', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  given().when(use('a', 0)).thenEvents(used('a', 0))
  given(used('a', 0)).when(use('a', DAY - 1)).thenNothing()
})

test('another request with the same key is refused for 24 hours, then the key is free [R76]', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  given(used('a', 0)).when(use('b', DAY - 1)).thenRefused({ _tag: 'IdempotencyKeyReused' })
  given(used('a', 0)).when(use('b', DAY)).thenEvents(used('b', DAY))
  given(used('a', 0), used('b', DAY)).when(use('a', DAY + 1)).thenRefused({ _tag: 'IdempotencyKeyReused' })
})

test('a key refers to the session of its request, or to the session that replaced it [R76]', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  given(used('a', 0)).when(admit(7, null)).thenEvents(admitted(7))
  given(used('a', 0), admitted(7)).when(admit(7, null)).thenNothing()
  given(used('a', 0), admitted(7)).when(admit(8, 7)).thenEvents(admitted(8))
  t.is(fold(idempotencyKeyDecider, [used('a', 0), admitted(7), admitted(8)])?.liveId, 8)
  t.is(
    fold(idempotencyKeyDecider, [used('a', 0), admitted(7), used('b', DAY)])?.liveId,
    null,
    'a new use has no session yet',
  )
})

test('when two requests with the same key both created a session, the second is refused [R76]', (t) => {
  specify(t, idempotencyKeyDecider)
    .given(used('a', 0), admitted(7))
    .when(admit(8, null))
    .thenRefused({ _tag: 'RequestStillRunning' })
})
