import * as t from 'io-ts'
import { id, instant, object } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent, type EventOf, type StoredEventOf } from '../shared/event.ts'
import { engineSettings } from '../live/settings.ts'
import { sealedVocabulary } from '../live/vocabulary.ts'
import { userKey } from '../user/events.ts'

/** One stream holds all profiles of a user, so the decider sees when a command would remove the last profile. */
export const profilesStream = (userId: number): string => `profiles-${userId}`

const profile = object(
  { profileId: id, userId: id, name: t.string, settings: engineSettings, at: instant },
  { vocabulary: sealedVocabulary },
)
const PERSONAL = ['name', 'vocabulary'] as const

export const ProfileAdded = definePersonalEvent('ProfileAdded', profile, PERSONAL, (data) => userKey(data.userId))
/** Holds the whole profile after the change. */
export const ProfileChanged = definePersonalEvent('ProfileChanged', profile, PERSONAL, (data) => userKey(data.userId))
export const ProfileRemoved = defineEvent('ProfileRemoved', t.strict({ profileId: id, userId: id, at: instant }))

export const profileEvents = [ProfileAdded, ProfileChanged, ProfileRemoved] as const
export type ProfileEvent = EventOf<(typeof profileEvents)[number]>
export type StoredProfileEvent = StoredEventOf<(typeof profileEvents)[number]>
