import test from 'ava'
import fc from 'fast-check'
import * as O from 'fp-ts/lib/Option.js'
import type { Document, Documents } from '../../../application/ports/documents.ts'
import { BEGINNING, type StoredEvent } from '../../../application/ports/event-store.ts'
import type { StoredApiTokenEvent } from '../../../domain/api-token/events.ts'
import type { StoredLiveEvent } from '../../../domain/live/events.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { StoredProfileEvent } from '../../../domain/profiles/events.ts'
import type { StoredUserEvent } from '../../../domain/user/events.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { changesOf } from '../../../projections/apply.ts'
import { differencesFromLog } from '../../../projections/compare-with-log.ts'
import { foldLive } from '../../../projections/lives/projection.ts'
import { modelOf, type Projection } from '../../../projections/projection.ts'
import { after } from '../../support/events/sample-events.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { documentsOf, projectEvents, withoutPosition } from '../../support/read-models/specify-projection.ts'
import { envelopeOf, logOf, sealedLive, storedEvents } from '../../support/events/stored-events.ts'
import { right } from '../../support/tools/right.ts'
import { checkpointAt } from '../../support/read-models/checkpoints.ts'

type Event = StoredLiveEvent | StoredUserEvent | StoredProfileEvent | StoredApiTokenEvent

const registration = {
  username: envelopeOf('a'),
  usernameHash: 'h',
  passwordHash: envelopeOf('p'),
  permissions: [],
  maxSessions: 1,
  maxTranslations: 1,
}

const NUMBERS = [1, 2, 3, 4]

const anyNumbers = fc.tuple(fc.constantFrom(...NUMBERS), fc.nat({ max: 19 }), fc.nat({ max: 1e6 }))
/** An event of one of four sessions, profiles or tokens, or of two users. A fold must accept every order of events. */
const anyEvent: fc.Arbitrary<Event> = anyNumbers.map(([liveId, kind, time]): Event => {
  const userId = liveId % 2 === 0 ? 2 : 1
  const user = { userId, at: after(time) }
  const live = { liveId, ...user }
  const token = { tokenId: liveId, ...user }
  const profile = { profileId: liveId, ...user, name: envelopeOf(`name ${time}`), settings: DEFAULT_ENGINE_SETTINGS }
  const kinds: ReadonlyArray<Event> = [
    sealedLive({ ...live, autoStart: liveId === 3 }),
    { type: 'LiveStarted', data: live },
    { type: 'LiveFinished', data: { ...live, reason: 'sender_closed' } },
    { type: 'LiveFailed', data: { ...live, code: 'engine_failed', detail: '' } },
    { type: 'LiveAborted', data: { ...live, reason: 'orphan' } },
    { type: 'SourceStarted', data: { ...live, pid: time + 1, sampleOffset: 0, nextSegment: 1, mediaSequence: null } },
    { type: 'SenderAttached', data: { ...live, epoch: 1, instance: 'i' } },
    { type: 'UserRegistered', data: { ...user, ...registration } },
    { type: 'PasswordChanged', data: { ...user, passwordHash: envelopeOf('q'), generation: 1 } },
    { type: 'UserDisabled', data: user },
    { type: 'UserEnabled', data: user },
    { type: 'ProfileAdded', data: profile },
    { type: 'ProfileChanged', data: profile },
    { type: 'ProfileRemoved', data: { profileId: liveId, ...user } },
    {
      type: 'ApiTokenIssued',
      data: { ...token, name: envelopeOf('ci'), prefix: 'lt_abc', secretHash: 'h', expiresAt: null },
    },
    { type: 'ApiTokenRenamed', data: { ...token, name: envelopeOf(`name ${time}`) } },
    { type: 'ApiTokenDeactivated', data: token },
    { type: 'ApiTokenActivated', data: token },
    { type: 'ApiTokenUsed', data: token },
    { type: 'ApiTokenRevoked', data: token },
  ]
  return kinds[kind] ?? sealedLive(live)
})

/** The size of each batch, and the number of changes after which the process dies (null: it survives). */
const anySteps = fc.array(
  fc.record({ size: fc.integer({ min: 1, max: 8 }), diesAfter: fc.option(fc.nat({ max: 4 })) }),
  { minLength: 1 },
)

/** Folds the events with the projection only, without positions, batches and stored documents. */
const folded = (projection: Projection, events: ReadonlyArray<StoredEvent>): Readonly<Record<string, Document>> => {
  const views: Record<string, Document> = {}
  for (const event of events) {
    for (const id of projection.touches(event)) {
      const view = projection.project(views[id] ?? null, event, id)
      if (view === null) delete views[id]
      else views[id] = view
    }
  }
  return views
}

const emptyDocuments = async (projection: Projection): Promise<Documents> => {
  const documents = createMemoryDocuments()
  right(await documents.ensure([projection.collection]))
  return documents
}

type Events = ReadonlyArray<StoredEvent>

/** Writes the first `written` changes of a batch without moving the checkpoint, as a crash does. */
const dieAfter = async (
  documents: Documents,
  projection: Projection,
  batch: Events,
  written: number,
): Promise<void> => {
  const changes = right(await changesOf(documents, projection, batch))
  right(await documents.commit(modelOf(projection), changes.slice(0, written), checkpointAt(BEGINNING)))
}

for (const projection of allProjections) {
  test(`${projection.name}: batches, crashes and rebuilds end in the fold of the events`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyEvent, { maxLength: 60 }), anySteps, async (history, steps) => {
        const events = storedEvents(history)
        const documents = await emptyDocuments(projection)
        for (let n = 0; ; n++) {
          const checkpoint = right(await documents.checkpoint(modelOf(projection))).position
          const { size, diesAfter } = steps[n] ?? { size: 5, diesAfter: null }
          const batch = events.filter(({ position }) => position > checkpoint).slice(0, size)
          if (batch.length === 0) break
          if (diesAfter === null) await projectEvents(documents, projection, batch)
          else {
            await dieAfter(documents, projection, batch, diesAfter)
            const scratch = createMemoryDocuments()
            t.deepEqual(await differencesFromLog({ store: logOf(events), documents, scratch }, projection), [])
          }
        }
        const expected = folded(projection, events)
        t.deepEqual(await documentsOf(documents, projection, events), expected)

        const rebuilt = await emptyDocuments(projection)
        if (events.length > 0) await projectEvents(rebuilt, projection, events)
        t.deepEqual(await documentsOf(rebuilt, projection, events), expected)
      }),
      { numRuns: 300 },
    )
  })
}

test('the fold of one stream equals the document of the list', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyEvent, { maxLength: 30 }), async (history) => {
      const [lives] = allProjections
      if (lives === undefined) throw new Error('there is no projection')
      const events = storedEvents(history)
      const documents = await emptyDocuments(lives)
      if (events.length > 0) await projectEvents(documents, lives, events)
      for (const liveId of NUMBERS) {
        const ownEvents = events.filter(({ stream }) => stream === `live-${liveId}`)
        const listed = right(await documents.get('lives', String(liveId)))
        t.deepEqual(foldLive(ownEvents), O.toNullable(O.map(withoutPosition)(listed)) as never)
      }
    }),
  )
})
