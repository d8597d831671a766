import * as t from 'io-ts'
import { id, instant } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent } from '../shared/event.ts'
import type { EventOf, StoredEventOf } from '../shared/event.ts'
import { engineSettings } from '../live/settings.ts'
import { userKey } from '../user/events.ts'

/** One user's SET of profiles is the aggregate: "never the last one" is decided in one place. */
export const profilesStream = (userId: number): string => `profiles-${userId}`

const profile = t.strict({ profileId: id, userId: id, name: t.string, settings: engineSettings, at: instant })

export const ProfileAdded = definePersonalEvent('ProfileAdded', profile, ['name'], (data) => userKey(data.userId))
/** Holds the whole profile after the change. */
export const ProfileChanged = definePersonalEvent('ProfileChanged', profile, ['name'], (data) => userKey(data.userId))
export const ProfileRemoved = defineEvent('ProfileRemoved', t.strict({ profileId: id, userId: id, at: instant }))

export const profileEvents = [ProfileAdded, ProfileChanged, ProfileRemoved] as const
export type ProfileEvent = EventOf<(typeof profileEvents)[number]>
export type StoredProfileEvent = StoredEventOf<(typeof profileEvents)[number]>
