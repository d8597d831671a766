import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { buffersAreOrdered, type EngineSettings, engineSettings } from '../live/settings.ts'
import {
  type GivenVocabulary, isSameVocabulary, NO_VOCABULARY, optionalVocabulary, sealedVocabulary,
} from '../live/vocabulary.ts'
import { id, instant } from '../shared/codecs.ts'
import { decideBy, type DeciderByCommand, type Decisions } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import { userKey } from '../user/events.ts'
import type { ProfileAdded, ProfileEvent } from './events.ts'

type ProfileData = EventOf<typeof ProfileAdded>['data']

export interface Profile {
  readonly profileId: number
  readonly userId: number
  readonly name: string
  readonly settings: EngineSettings
  readonly vocabulary: GivenVocabulary
  readonly createdAt: string
  /** Null until the first change. */
  readonly updatedAt: string | null
}

/** One user's profiles in the order in which they were added. */
export type ProfilesState = ReadonlyArray<Profile>

export type ProfilesCommand =
  | ({ readonly type: 'AddProfile' } & Omit<ProfileData, 'at'>)
  /** Missing members stay unchanged. */
  | {
      readonly type: 'ChangeProfile'
      readonly profileId: number
      readonly name?: string
      readonly settings: Partial<EngineSettings>
      readonly vocabulary?: GivenVocabulary
    }
  | { readonly type: 'RemoveProfile'; readonly profileId: number }

interface ProfileExists { readonly _tag: 'ProfileExists' }
interface ProfileUnknown { readonly _tag: 'ProfileUnknown' }
interface TooManyProfiles { readonly _tag: 'TooManyProfiles' }
/** Every user must keep at least one profile. */
export interface LastProfile { readonly _tag: 'LastProfile' }
/** `min_buffer` would be larger than `max_buffer`. */
interface BuffersNotOrdered { readonly _tag: 'BuffersNotOrdered' }

export interface ProfilesRefusals {
  readonly AddProfile: ProfileExists | TooManyProfiles | BuffersNotOrdered
  readonly ChangeProfile: ProfileUnknown | BuffersNotOrdered
  readonly RemoveProfile: ProfileUnknown | LastProfile
}

/** Limit for one user. Users from early versions may have more profiles. They keep them, but cannot add any. */
export const MAX_PROFILES = 100

type Rules = Decisions<ProfilesState, ProfilesCommand, ProfileEvent, ProfilesRefusals>

const add: Rules['AddProfile'] = (command, state) => {
  const { profileId, userId, name, settings, vocabulary = NO_VOCABULARY, at } = command
  if (state.some((profile) => profile.profileId === profileId)) return E.left({ _tag: 'ProfileExists' })
  if (state.length >= MAX_PROFILES) return E.left({ _tag: 'TooManyProfiles' })
  if (!buffersAreOrdered(settings)) return E.left({ _tag: 'BuffersNotOrdered' })
  const data = { profileId, userId, name, settings, at, ...optionalVocabulary(vocabulary) }
  return E.right([{ type: 'ProfileAdded', data }])
}

const profileOf = (state: ProfilesState, profileId: number): Either<ProfileUnknown, Profile> =>
  E.fromNullable({ _tag: 'ProfileUnknown' } as const)(state.find((profile) => profile.profileId === profileId))

const sameSettings = (a: EngineSettings, b: EngineSettings): boolean =>
  a.vad === b.vad &&
  a.mode === b.mode &&
  a.min_buffer === b.min_buffer &&
  a.max_buffer === b.max_buffer &&
  a.buffer_timeout === b.buffer_timeout &&
  a.max_delay === b.max_delay &&
  a.max_chars === b.max_chars &&
  a.max_lines === b.max_lines &&
  a.punctuation === b.punctuation &&
  a.words === b.words &&
  a.task === b.task

const change: Rules['ChangeProfile'] = (command, state) => {
  const found = profileOf(state, command.profileId)
  if (E.isLeft(found)) return found
  const profile = found.right
  const { profileId, userId } = profile
  const name = command.name ?? profile.name
  const settings = { ...profile.settings, ...command.settings }
  const vocabulary = { ...profile.vocabulary, ...command.vocabulary }
  if (!buffersAreOrdered(settings)) return E.left({ _tag: 'BuffersNotOrdered' })
  const isSame =
    name === profile.name &&
    sameSettings(settings, profile.settings) &&
    isSameVocabulary(vocabulary, profile.vocabulary)
  if (isSame) return E.right([])
  const data = { profileId, userId, name, settings, at: command.at, ...optionalVocabulary(vocabulary) }
  return E.right([{ type: 'ProfileChanged', data }])
}

const remove: Rules['RemoveProfile'] = ({ profileId, at }, state) => {
  const found = profileOf(state, profileId)
  if (E.isLeft(found)) return found
  if (state.length === 1) return E.left({ _tag: 'LastProfile' })
  return E.right([{ type: 'ProfileRemoved', data: { profileId, userId: found.right.userId, at } }])
}

const evolve = (state: ProfilesState, event: ProfileEvent): ProfilesState => {
  switch (event.type) {
    case 'ProfileAdded': {
      const { profileId, userId, name, settings, vocabulary = NO_VOCABULARY, at } = event.data
      return [...state, { profileId, userId, name, settings, vocabulary, createdAt: at, updatedAt: null }]
    }
    case 'ProfileChanged': {
      const { profileId, name, settings, vocabulary = NO_VOCABULARY, at } = event.data
      const present = { name, settings, vocabulary, updatedAt: at }
      return state.map((profile) => (profile.profileId === profileId ? { ...profile, ...present } : profile))
    }
    case 'ProfileRemoved':
      return state.filter((profile) => profile.profileId !== event.data.profileId)
  }
}

const profilesState: t.Type<ProfilesState, unknown> = t.readonlyArray(
  t.strict({
    profileId: id, userId: id, name: t.string, settings: engineSettings, vocabulary: sealedVocabulary,
    createdAt: instant, updatedAt: t.union([instant, t.null]),
  }),
)

/** The rules for all profiles of one user. */
export const profilesDecider: DeciderByCommand<ProfilesState, ProfilesCommand, ProfileEvent, ProfilesRefusals> = {
  initialState: [],
  evolve,
  decide: decideBy({ AddProfile: add, ChangeProfile: change, RemoveProfile: remove }),
  snapshots: {
    version: 1,
    codec: profilesState,
    keyOf: ([profile]) => (profile === undefined ? null : userKey(profile.userId)),
    isKept: false,
  },
}
