import test from 'ava'
import { idempotencyKeyDecider, type IdempotencyKeyCommand } from '../../../../domain/idempotency/decider.ts'
import type { IdempotencyKeyAdmitted, IdempotencyKeyUsed } from '../../../../domain/idempotency/events.ts'
import { fold } from '../../../../domain/shared/decider.ts'
import { specify } from '../../../support/tools/specify.ts'
import { after } from '../../../support/events/sample-events.ts'

const DAY = 24 * 60 * 60 * 1000
const used = (requestHash: string, at: number, commandId = `command at ${at}`): IdempotencyKeyUsed =>
  ({ type: 'IdempotencyKeyUsed', data: { userId: 3, commandId, requestHash, at: after(at) } })
const admitted = (liveId: number, at = 0): IdempotencyKeyAdmitted =>
  ({ type: 'IdempotencyKeyAdmitted', data: { liveId, at: after(at) } })
const admit = (requestHash: string, liveId: number, before: number | null, at = 0): IdempotencyKeyCommand =>
  ({ use: used(requestHash, at).data, liveId, before })

test('the first session of a key is recorded with its request, a repeat within 24 hours is not', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  given().when(admit('a', 7, null)).thenEvents(used('a', 0), admitted(7))
  given(used('a', 0), admitted(7)).when(admit('a', 7, null, DAY - 1)).thenNothing()
})

test('another request with the same key is refused for 24 hours, then the key is free', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  const first = [used('a', 0), admitted(7)]
  given(...first).when(admit('b', 8, null, DAY - 1)).thenRefused({ _tag: 'IdempotencyKeyReused' })
  given(...first).when(admit('b', 8, null, DAY)).thenEvents(used('b', DAY), admitted(8, DAY))
  given(...first, used('b', DAY)).when(admit('a', 9, null, DAY + 1)).thenRefused({ _tag: 'IdempotencyKeyReused' })
})

test('a key refers to the session of its request, or to the session that replaced it', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  given(used('a', 0)).when(admit('a', 7, null)).thenEvents(admitted(7))
  given(used('a', 0), admitted(7)).when(admit('a', 8, 7)).thenEvents(admitted(8))
  t.is(fold(idempotencyKeyDecider, [used('a', 0), admitted(7), admitted(8)])?.liveId, 8)
  t.is(
    fold(idempotencyKeyDecider, [used('a', 0), admitted(7), used('b', DAY)])?.liveId,
    null,
    'a new use has no session yet',
  )
})

test('when two requests with the same key both created a session, the second is refused', (t) => {
  specify(t, idempotencyKeyDecider)
    .given(used('a', 0), admitted(7))
    .when(admit('a', 8, null))
    .thenRefused({ _tag: 'RequestStillRunning' })
})
