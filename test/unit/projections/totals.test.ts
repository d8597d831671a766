import assert from 'node:assert/strict'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import type { Documents } from '../../../application/ports/documents.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { apiTokens, apiTokenTotals } from '../../../projections/api-tokens/projection.ts'
import { pageOfTokens } from '../../../projections/api-tokens/queries.ts'
import type { Projection } from '../../../projections/projection.ts'
import { userTotals, users } from '../../../projections/users/projection.ts'
import { listUsers } from '../../../projections/users/queries.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { after } from '../../support/events/sample-events.ts'
import { envelopeOf, type PlainEvent, storedEvents } from '../../support/events/stored-events.ts'
import { documentsOf, projectEvents, specifyProjection } from '../../support/read-models/specify-projection.ts'
import { right } from '../../support/tools/right.ts'

const at = after(0)
const registered = (userId: number): PlainEvent => ({
  type: 'UserRegistered',
  data: {
    userId, username: envelopeOf('ada'), usernameHash: 'a hash', passwordHash: envelopeOf('password'),
    permissions: [], maxSessions: 10, maxTranslations: 5, at,
  },
})
const deleted = (userId: number): PlainEvent => ({ type: 'UserDeleted', data: { userId, usernameHash: 'a hash', at } })
const issued = (tokenId: number): PlainEvent => ({
  type: 'ApiTokenIssued',
  data: { tokenId, userId: 3, name: envelopeOf('ci'), prefix: 'lt_a', secretHash: 'a hash', expiresAt: null, at },
})
const revoked = (tokenId: number): PlainEvent => ({ type: 'ApiTokenRevoked', data: { tokenId, userId: 3, at } })

test('a total is counted in parts, so an event rewrites few ids', async (t) => {
  await specifyProjection(t, userTotals).given(registered(1), registered(2), registered(65)).thenDocuments({
    1: { part: 1, count: 2, ids: [1, 65] },
    2: { part: 2, count: 1, ids: [2] },
  })
  await specifyProjection(t, userTotals).given(registered(1), registered(65), deleted(1)).thenDocuments({
    1: { part: 1, count: 1, ids: [65] },
  })
  await specifyProjection(t, apiTokenTotals).given(issued(4), issued(5), revoked(4)).thenDocuments({
    4: { part: 4, count: 0, ids: [] },
    5: { part: 5, count: 1, ids: [5] },
  })
})

const keyring: Pick<Keyring, 'open'> = { open: async (members) => E.right(members.map(() => E.right('a name'))) }

const LISTS = [
  {
    list: 'users', projections: [users, userTotals], created: registered, removed: deleted,
    pageOf: async (documents: Documents) => right(await listUsers({ documents, keyring })({ skip: 0, limit: 50 })),
  },
  {
    list: 'API tokens', projections: [apiTokens, apiTokenTotals], created: issued, removed: revoked,
    pageOf: async (documents: Documents) =>
      right(await pageOfTokens({ documents, keyring })(null, { skip: 0, limit: 50 })),
  },
] as const

/** Histories of three objects whose ids share a part. Each is created and perhaps removed; any event is damaged. */
const historiesOf = (created: (id: number) => PlainEvent, removed: (id: number) => PlainEvent) => {
  const damaged = (event: PlainEvent): fc.Arbitrary<PlainEvent> => fc.constantFrom(event, { ...event, data: {} })
  const historyOf = (id: number) => fc.tuple(damaged(created(id)), fc.option(damaged(removed(id))))
  return fc.tuple(...[1, 65, 129].map(historyOf)).map((all) => all.flat().filter((event) => event !== null))
}

for (const { list, projections, created, removed, pageOf } of LISTS) {
  test(`whichever events are damaged, the total of ${list} equals the list`, async (t) => {
    await fc.assert(fc.asyncProperty(historiesOf(created, removed), async (history) => {
      const events = storedEvents(history)
      const documents = createMemoryDocuments()
      for (const projection of projections) {
        right(await documents.ensure([projection.collection]))
        await projectEvents(documents, projection, events)
      }
      const [listed]: ReadonlyArray<Projection> = projections
      assert.ok(listed)
      const { items, total } = await pageOf(documents)
      const ids = Object.keys(await documentsOf(documents, listed, events))
      assert.deepEqual([items.length, total], [ids.length, ids.length])
    }))
    t.pass()
  })
}

test('with 100,000 users an event rewrites at most 12 kB', (t) => {
  const [event] = storedEvents([registered(100_000)])
  assert.ok(event)
  const [part] = userTotals.touches(event)
  assert.ok(part)
  const ids = Array.from({ length: 100_000 }, (_, index) => index).filter((id) => id % 64 === Number(part))
  const next = userTotals.project({ part: Number(part), count: ids.length, ids }, event, part)
  t.is(next?.['count'], ids.length + 1)
  t.true(JSON.stringify(next).length < 12_000)
})
