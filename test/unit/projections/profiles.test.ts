import test from 'ava'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { StoredProfileEvent } from '../../../domain/profiles/events.ts'
import { profiles } from '../../../projections/profiles/projection.ts'
import { after } from '../../support/events/sample-events.ts'
import { envelopeOf } from '../../support/events/stored-events.ts'
import { specifyProjection } from '../../support/read-models/specify-projection.ts'

const about = (profileId: number, at: number) => ({ profileId, userId: 3, at: after(at) })
const added = (profileId: number, name = 'Default', userId = 3): StoredProfileEvent => ({
  type: 'ProfileAdded',
  data: { ...about(profileId, profileId), userId, name: envelopeOf(name, 'user-3'), settings: DEFAULT_ENGINE_SETTINGS },
})
const removed = (profileId: number): StoredProfileEvent => ({ type: 'ProfileRemoved', data: about(profileId, 9000) })
const listed = (id: number, name = 'Default') => ({
  id, name: envelopeOf(name, 'user-3'), settings: DEFAULT_ENGINE_SETTINGS, createdAt: after(id), updatedAt: null,
})

test('a user has exactly the profiles that were added for this user', async (t) => {
  await specifyProjection(t, profiles)
    .given(added(1), added(2, 'Lecture'), added(3, 'Default', 8))
    .thenDocuments({
      3: { userId: 3, profiles: [listed(1), listed(2, 'Lecture')] },
      8: { userId: 8, profiles: [listed(3)] },
    })
})

test('profiles are ordered by id, in any order of addition', async (t) => {
  await specifyProjection(t, profiles)
    .given(added(2), added(10), added(1))
    .thenDocuments({ 3: { userId: 3, profiles: [listed(1), listed(2), listed(10)] } })
})

test('a change appears only in its own profile', async (t) => {
  const faster = { ...DEFAULT_ENGINE_SETTINGS, max_delay: 2 }
  await specifyProjection(t, profiles)
    .given(added(1), added(2), {
      type: 'ProfileChanged',
      data: { ...about(1, 5000), name: envelopeOf('Fast', 'user-3'), settings: faster },
    })
    .thenDocuments({
      3: { userId: 3, profiles: [{ ...listed(1, 'Fast'), settings: faster, updatedAt: after(5000) }, listed(2)] },
    })
})

test('a removed profile is gone', async (t) => {
  await specifyProjection(t, profiles)
    .given(added(1), added(2), removed(1))
    .thenDocuments({ 3: { userId: 3, profiles: [listed(2)] } })
})

test('the vocabulary of a profile stays encrypted, and a change can remove it', async (t) => {
  const vocabulary = envelopeOf('vocabulary', 'user-3')
  const { data } = added(1) as Extract<StoredProfileEvent, { readonly type: 'ProfileAdded' }>
  const withVocabulary: StoredProfileEvent = { type: 'ProfileAdded', data: { ...data, vocabulary } }
  await specifyProjection(t, profiles)
    .given(withVocabulary)
    .thenDocuments({ 3: { userId: 3, profiles: [{ ...listed(1), vocabulary }] } })
  await specifyProjection(t, profiles)
    .given(withVocabulary, { type: 'ProfileChanged', data: { ...data, at: after(5000) } })
    .thenDocuments({ 3: { userId: 3, profiles: [{ ...listed(1), updatedAt: after(5000) }] } })
})
