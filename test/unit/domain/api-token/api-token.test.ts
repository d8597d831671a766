import test from 'ava'
import { apiTokenDecider, type ApiTokenCommand } from '../../../../domain/api-token/decider.ts'
import type { ApiTokenEvent, ApiTokenUsed } from '../../../../domain/api-token/events.ts'
import { hasExpired, looksLikeApiToken, prefixOfSecret, tokenUseDecider } from '../../../../domain/api-token/rules.ts'
import { fold, type Stamped } from '../../../../domain/shared/decider.ts'
import { specify } from '../../../support/tools/specify.ts'
import { after } from '../../../support/events/sample-events.ts'

const at = after(9000)
const common = { tokenId: 4, userId: 3, at }
const issued = {
  type: 'ApiTokenIssued',
  data: {
    tokenId: 4,
    userId: 3,
    name: 'ci',
    prefix: 'lt_abcdefghijkl',
    secretHash: 'hash',
    expiresAt: null,
    at: after(0),
  },
} satisfies ApiTokenEvent
const renamed = (name: string): ApiTokenEvent => ({ type: 'ApiTokenRenamed', data: { ...common, name } })
const deactivated: ApiTokenEvent = { type: 'ApiTokenDeactivated', data: common }
const activated: ApiTokenEvent = { type: 'ApiTokenActivated', data: common }
const revoked: ApiTokenEvent = { type: 'ApiTokenRevoked', data: common }
const change = (
  members: { readonly name?: string; readonly isActive?: boolean }, userId = 3,
): Stamped<ApiTokenCommand> => ({ type: 'Change', userId, at, ...members })
const revoke = (userId = 3): Stamped<ApiTokenCommand> => ({ type: 'Revoke', userId, at })
const unknown = { _tag: 'TokenUnknown' } as const

const issue = { type: 'Issue', data: issued.data, at: issued.data.at } as const

test('a token is issued once', (t) => {
  const { given } = specify(t, apiTokenDecider)
  given().when(issue).thenEvents(issued)
  given(issued).when(issue).thenRefused({ _tag: 'TokenExists' })
  given(issued, revoked).when(issue).thenRefused({ _tag: 'TokenExists' })
})

test('a token expires at a time after its issue, or never', (t) => {
  const { given } = specify(t, apiTokenDecider)
  const until = (expiresAt: string) => ({ ...issue, data: { ...issued.data, expiresAt } })
  given().when(until(after(1))).thenEvents({ type: 'ApiTokenIssued', data: until(after(1)).data })
  given().when(until(after(0))).thenRefused({ _tag: 'ExpiryNotInFuture' })
  given().when(until(after(-86_400_000))).thenRefused({ _tag: 'ExpiryNotInFuture' })
})

test('a member changes only if it was sent with a new value; several changes are one decision', (t) => {
  const { given } = specify(t, apiTokenDecider)
  given(issued).when(change({})).thenNothing()
  given(issued).when(change({ name: 'ci', isActive: true })).thenNothing()
  given(issued).when(change({ name: 'nightly' })).thenEvents(renamed('nightly'))
  given(issued, renamed('nightly')).when(change({ name: 'ci' })).thenEvents(renamed('ci'))
  given(issued).when(change({ name: 'nightly', isActive: false })).thenEvents(renamed('nightly'), deactivated)
})

test('a token can be switched off and on again', (t) => {
  const { given } = specify(t, apiTokenDecider)
  given(issued).when(change({ isActive: false })).thenEvents(deactivated)
  given(issued, deactivated).when(change({ isActive: false })).thenNothing()
  given(issued, deactivated).when(change({ isActive: true })).thenEvents(activated)
  given(issued, deactivated, activated).when(change({ isActive: true })).thenNothing()
})

test('a revoked token is gone for good', (t) => {
  const { given } = specify(t, apiTokenDecider)
  given(issued).when(revoke()).thenEvents(revoked)
  given(issued, deactivated).when(revoke()).thenEvents(revoked)
  given(issued, revoked).when(revoke()).thenRefused(unknown)
  given(issued, revoked).when(change({ isActive: true })).thenRefused(unknown)
  given(issued, revoked, activated).when(change({ isActive: false })).thenRefused(unknown)
})

test('a token that was never issued and a token of another user are both unknown', (t) => {
  const { given } = specify(t, apiTokenDecider)
  for (const command of [revoke(3), change({ name: 'x' })]) given().when(command).thenRefused(unknown)
  for (const command of [revoke(8), change({ name: 'x' }, 8), change({}, 8)])
    given(issued).when(command).thenRefused(unknown)
})

test('the state holds the current values of the token', (t) => {
  const { at: createdAt, ...facts } = issued.data
  t.deepEqual(fold(apiTokenDecider, [issued, deactivated, renamed('x')]), {
    ...facts,
    status: 'issued',
    name: 'x',
    isActive: false,
    createdAt,
  })
  t.deepEqual(fold(apiTokenDecider, [issued, revoked]), { status: 'revoked' })
})

test('a use is recorded when the last recorded use is a minute old', (t) => {
  const { given } = specify(t, tokenUseDecider)
  const used = (milliseconds: number): ApiTokenUsed => ({
    type: 'ApiTokenUsed',
    data: { ...common, at: after(milliseconds) },
  })
  given().when(used(0).data).thenEvents(used(0))
  given(used(0)).when(used(59_999).data).thenNothing()
  given(used(0)).when(used(60_000).data).thenEvents(used(60_000))
  given(used(0), used(60_000)).when(used(119_999).data).thenNothing()
  given(used(60_000)).when(used(0).data).thenEvents(used(0))
})

test('at its expiry time a token is already expired', (t) => {
  t.false(hasExpired(null, at))
  t.false(hasExpired(after(9001), at))
  t.true(hasExpired(at, at))
  t.true(hasExpired(after(8999), at))
})

test('the public prefix of a secret has 15 characters; a malformed secret has no prefix', (t) => {
  const secret = `lt_${'a1B'.repeat(4)}_${'Z'.repeat(43)}`
  t.is(prefixOfSecret(secret), 'lt_a1Ba1Ba1Ba1B')
  for (const bad of [
    '',
    'lt_',
    secret.slice(0, -1),
    `${secret}Z`,
    `${secret}\n`,
    secret.replace('lt_', 'LT_'),
    secret.replace('1', '-'),
    ` ${secret}`,
  ])
    t.is(prefixOfSecret(bad), null, bad)
  t.true(looksLikeApiToken(secret))
  t.false(looksLikeApiToken('eyJhbGciOiJIUzI1NiJ9.e30.x'))
})
