import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import fc from 'fast-check'
import { openEvents, sealEvents } from '../../../application/log/event-serialization.ts'
import { unlistedLive } from '../../../application/lives/queries/unlisted-live.ts'
import { viewOf } from '../../../application/lives/queries/live-view.ts'
import type { Documents } from '../../../application/ports/documents.ts'
import type { StoredEvent } from '../../../application/ports/event-store.ts'
import { LIVE_STATUSES, type LiveStatus } from '../../../application/ports/read-models.ts'
import { liveDecider } from '../../../domain/live/decider.ts'
import type { LiveEvent } from '../../../domain/live/events.ts'
import type { Live } from '../../../domain/live/state.ts'
import { fold } from '../../../domain/shared/decider.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { getLive, listLives, liveIdsOf, pageOfAllLives } from '../../../projections/lives/queries.ts'
import { after, liveCreated } from '../../support/events/sample-events.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../support/doubles/memory/keyring.ts'
import { right } from '../../support/tools/right.ts'
import { projectEvents } from '../../support/read-models/specify-projection.ts'
import { storedEvents } from '../../support/events/stored-events.ts'

const everything = { skip: 0, limit: 1000 }

const eventsOf = (liveId: number, userId: number, status: LiveStatus): ReadonlyArray<LiveEvent> => {
  const about = { liveId, userId, at: after(liveId) }
  const created = liveCreated({
    ...about,
    senderToken: `sender ${liveId}`,
    audioUrl: liveId % 2 === 0 ? `http://host/${liveId}` : null,
  })
  switch (status) {
    case 'pending':
      return [created]
    case 'active':
      return [created, { type: 'LiveStarted', data: about }]
    case 'finished':
      return [created, { type: 'LiveFinished', data: { ...about, reason: 'finish_route' } }]
    case 'error':
      return [created, { type: 'LiveFailed', data: { ...about, code: 'engine_failed', detail: '' } }]
    default:
      return status satisfies never
  }
}

interface Sample {
  readonly userId: number
  readonly status: LiveStatus
}

/** Projects sessions, numbered from 1 in the order of `samples`. `pages` records each page that a query reads. */
const startWith = async (samples: ReadonlyArray<Sample>) => {
  const keyring = createMemoryKeyring()
  const documents = createMemoryDocuments()
  right(await documents.ensure(allProjections.map(({ collection }) => collection)))
  const sealed = await Promise.all(samples.map(async ({ userId, status }, index) =>
    right(await sealEvents(keyring, `live-${index + 1}`)(eventsOf(index + 1, userId, status)))))
  const events = storedEvents(sealed.flat())
  for (const projection of allProjections) if (events.length > 0) await projectEvents(documents, projection, events)
  const pages: Array<number> = []
  const watched: Documents = {
    ...documents,
    page: (name, request) => {
      pages.push(request.skip)
      return documents.page(name, request)
    },
  }
  const deps = { documents: watched, keyring, unlistedLive: unlistedLive({ keyring, store: createMemoryEventStore() }) }
  return {
    keyring,
    events,
    pages,
    queries: {
      getLive: getLive(deps),
      listLives: listLives(deps),
      pageOfAllLives: pageOfAllLives(deps),
      liveIdsOf: liveIdsOf(deps),
    },
  }
}

const lives = (userId: number, ...statuses: ReadonlyArray<LiveStatus>): ReadonlyArray<Sample> =>
  statuses.map((status) => ({ userId, status }))

test('the owner gets a session with its decrypted secrets', async (t) => {
  const { queries } = await startWith(lives(3, 'pending', 'active'))
  const live = O.toNullable(right(await queries.getLive(3, 2)))
  t.like(live, {
    id: 2,
    status: 'active',
    audioUrl: 'http://host/2',
    senderToken: 'sender 2',
    listenerToken: 'listener',
  })
  t.false('position' in (live ?? {}))
  t.like(right(await queries.getLive(3, 1)), { value: { audioUrl: null } })
})

test('a session of another user is as unknown as a missing session', async (t) => {
  const { queries } = await startWith(lives(3, 'pending'))
  t.deepEqual(right(await queries.getLive(4, 1)), O.none)
  for (const id of [0, -1, 2, 2 ** 40]) t.deepEqual(right(await queries.getLive(3, id)), O.none)
  t.deepEqual(right(await queries.listLives(4, [], everything)), { items: [], total: 0 })
})

test('the sessions of the caller are listed newest first', async (t) => {
  const { queries } = await startWith([...lives(3, 'pending', 'finished'), ...lives(4, 'active'), ...lives(3, 'error')])
  const page = right(await queries.listLives(3, [], everything))
  t.deepEqual(page.items.map(({ id }) => id), [4, 2, 1])
  t.is(page.total, 3)
})

test('several statuses mean any of them; a repeated status counts once', async (t) => {
  const { queries } = await startWith(lives(3, 'pending', 'active', 'finished', 'error', 'active'))
  const ids = async (...statuses: ReadonlyArray<LiveStatus>) => {
    const page = right(await queries.listLives(3, statuses, everything))
    t.is(page.total, page.items.length)
    return page.items.map(({ id }) => id)
  }
  t.deepEqual(await ids('active'), [5, 2])
  t.deepEqual(await ids('active', 'error'), [5, 4, 2])
  t.deepEqual(await ids('active', 'active'), [5, 2])
  t.deepEqual(await ids(...LIVE_STATUSES), [5, 4, 3, 2, 1])
})

test('beyond the last page the list is empty with the true total, and nothing is searched', async (t) => {
  const { queries, pages } = await startWith(lives(3, 'pending', 'active', 'finished'))
  t.deepEqual(right(await queries.listLives(3, [], { skip: 3, limit: 100 })), { items: [], total: 3 })
  t.deepEqual(right(await queries.listLives(3, ['active'], { skip: 2147483647, limit: 100 })), { items: [], total: 1 })
  t.deepEqual(pages, [])
})

test('pages of any size and filter together contain every match once, newest first', async (t) => {
  const anySample = fc.record({ userId: fc.constantFrom(3, 4), status: fc.constantFrom(...LIVE_STATUSES) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(anySample, { maxLength: 25 }),
      fc.subarray([...LIVE_STATUSES], { minLength: 1 }),
      fc.integer({ min: 1, max: 7 }),
      async (samples, statuses, limit) => {
        const { queries } = await startWith(samples)
        const isWanted = ({ userId, status }: Sample): boolean => userId === 3 && statuses.includes(status)
        const expected = samples.flatMap((sample, index) => (isWanted(sample) ? [index + 1] : [])).toReversed()
        const seen: Array<number> = []
        for (let skip = 0; skip < expected.length + limit; skip += limit) {
          const page = right(await queries.listLives(3, statuses, { skip, limit }))
          t.is(page.total, expected.length)
          t.true(page.items.length <= limit)
          seen.push(...page.items.map(({ id }) => id))
        }
        t.deepEqual(seen, expected)
      },
    ),
    { numRuns: 60 },
  )
})

test('the sessions of all users or of one user are listed without encrypted values', async (t) => {
  const { queries } = await startWith([...lives(3, 'pending', 'finished'), ...lives(4, 'active')])
  const pageOf = async (userId: number | null, ...statuses: ReadonlyArray<LiveStatus>) => {
    const { items, total } = right(await queries.pageOfAllLives({ userId, statuses }, everything))
    t.is(total, items.length)
    t.false(
      items.some(
        (live) => 'senderToken' in live || 'listenerToken' in live || 'audioUrl' in live || 'position' in live,
      ),
    )
    return items.map(({ id }) => id)
  }
  t.deepEqual(await pageOf(null), [3, 2, 1])
  t.deepEqual(await pageOf(null, 'active', 'pending'), [3, 1])
  t.deepEqual(await pageOf(3), [2, 1])
  t.deepEqual(await pageOf(5), [])
})

test('the ids of all sessions of a user are returned, however many', async (t) => {
  const samples = Array.from({ length: 1001 }, (_, index): Sample => ({
    userId: index === 500 ? 4 : 3,
    status: 'pending',
  }))
  const { queries } = await startWith(samples)
  t.deepEqual(
    right(await queries.liveIdsOf(3)),
    samples.flatMap(({ userId }, index) => (userId === 3 ? [index + 1] : [])),
  )
  t.deepEqual(right(await queries.liveIdsOf(4)), [501])
})

test('the secrets of an erased session read as erased, in lists too', async (t) => {
  const { queries, keyring } = await startWith(lives(3, 'pending', 'finished'))
  right(await keyring.erase(['live-2']))
  const page = right(await queries.listLives(3, [], everything))
  t.deepEqual(page.items.map(({ senderToken }) => senderToken), [ERASED, 'sender 1'])
  t.is(page.items[0]?.audioUrl, ERASED)
})

test('the answer to a write equals the session in the list', async (t) => {
  const { queries, keyring, events } = await startWith(lives(3, 'pending', 'active', 'finished', 'error'))
  const page = right(await queries.listLives(3, [], everything))
  for (const live of page.items) {
    const ownEvents = events.filter(({ stream }: StoredEvent) => stream === `live-${live.id}`)
    const opened = right(await openEvents(keyring)(ownEvents)) as ReadonlyArray<LiveEvent>
    t.deepEqual(viewOf(fold(liveDecider, opened) as Live), live)
  }
})
