import { profileEvents, type StoredProfileEvent } from '../../domain/profiles/events.ts'
import type { StoredEventOf } from '../../domain/shared/event.ts'
import { UserDeleted } from '../../domain/user/events.ts'
import { defineProjection } from '../projection.ts'
import { PROFILES, type ProfilesDocument } from './document.ts'

type Profiles = ProfilesDocument['profiles']
type ProfileData = Extract<StoredProfileEvent, { readonly type: 'ProfileAdded' | 'ProfileChanged' }>['data']

/** The members that a user can change. */
const contentOf = ({ name, settings, vocabulary }: ProfileData) =>
  ({ name, settings, ...(vocabulary && { vocabulary }) })

const project = (
  current: ProfilesDocument | null,
  event: StoredProfileEvent | StoredEventOf<typeof UserDeleted>,
): ProfilesDocument | null => {
  if (event.type === 'UserDeleted') return null
  const { profileId, userId } = event.data
  const known: Profiles = current?.profiles ?? []
  const others = known.filter(({ id }) => id !== profileId)
  switch (event.type) {
    case 'ProfileAdded': {
      const added = { id: profileId, ...contentOf(event.data), createdAt: event.data.at, updatedAt: null }
      // When two profiles are added at once, the larger id may be stored first.
      return { userId, profiles: [...others, added].toSorted((a, b) => a.id - b.id) }
    }
    case 'ProfileChanged': {
      const changed = { ...contentOf(event.data), updatedAt: event.data.at }
      const profiles = known.map((profile) =>
        profile.id === profileId ? { id: profileId, createdAt: profile.createdAt, ...changed } : profile)
      return current && { ...current, profiles }
    }
    case 'ProfileRemoved':
      return current && { ...current, profiles: others }
    default:
      return event satisfies never
  }
}

/** One document for each user with all profiles. It is removed with the user. */
export const profiles = defineProjection({
  name: 'profiles',
  collection: { name: PROFILES, indexes: [] },
  prefixes: ['profiles-', 'user-'],
  events: [...profileEvents, UserDeleted],
  touches: (event) => [String(event.data.userId)],
  project,
})
