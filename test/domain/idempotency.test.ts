import test from 'ava'
import { idempotencyKeyDecider } from '../../domain/idempotency/decider.ts'
import type { IdempotencyKeyUsed } from '../../domain/idempotency/events.ts'
import { specify } from '../support/specify.ts'
import { after } from './samples.ts'

const DAY = 24 * 60 * 60 * 1000
const use = (requestHash: string, at: number, commandId = `command at ${at}`): IdempotencyKeyUsed =>
  ({ type: 'IdempotencyKeyUsed', data: { userId: 3, commandId, requestHash, at: after(at) } })

test('R76: the first request with a key is recorded, the same again within 24 hours is not', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  given().when(use('a', 0).data).thenEvents(use('a', 0))
  given(use('a', 0)).when(use('a', DAY - 1).data).thenNothing()
})

test('R76: another request with the same key is refused for 24 hours, then the key is free', (t) => {
  const { given } = specify(t, idempotencyKeyDecider)
  given(use('a', 0)).when(use('b', DAY - 1).data).thenRefused({ _tag: 'IdempotencyKeyReused' })
  given(use('a', 0)).when(use('b', DAY).data).thenEvents(use('b', DAY))
  given(use('a', 0), use('b', DAY)).when(use('a', DAY + 1).data).thenRefused({ _tag: 'IdempotencyKeyReused' })
})
