import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { UNAVAILABLE } from '../errors.ts'
import { list, messageView, presentPage, single } from '../codecs/presenters.ts'
import {
  listedProfileView, newProfileBody, presentListedProfile, presentProfile, profileChange, profileChangeBody,
  profileView,
} from '../codecs/profile-codecs.ts'
import { pageOf, pageQuery, pathId } from '../codecs/request-codecs.ts'
import { privateRoute, type Route } from '../route.ts'
import type { ChangeProfile } from '../../../application/profiles/commands/change-profile.ts'
import type { CreateProfile } from '../../../application/profiles/commands/create-profile.ts'
import type { RemoveProfile } from '../../../application/profiles/commands/remove-profile.ts'
import type { GetProfile, ListProfiles } from '../../../projections/profiles/queries.ts'
import { settingsOf, vocabularyOf } from '../codecs/settings-codec.ts'

export interface ProfileCalls {
  readonly listProfiles: ListProfiles
  readonly createProfile: CreateProfile
  readonly getProfile: GetProfile
  readonly changeProfile: ChangeProfile
  readonly removeProfile: RemoveProfile
}

const listProfiles = privateRoute(
  'private',
  {
    operationId: 'listProfiles',
    summary: 'List your profiles',
    method: 'GET',
    path: '/user-live-configs',
    query: pageQuery,
    response: { codec: list(listedProfileView) },
    refusals: UNAVAILABLE,
  },
  async ({ query, caller, facts }, calls: ProfileCalls) => {
    const page = pageOf(query)
    const profiles = await calls.listProfiles(caller.userId, page)
    if (E.isLeft(profiles)) return profiles
    return E.right(await presentPage(profiles.right, page, (profile) => presentListedProfile(profile, facts)))
  },
)

const createProfile = privateRoute(
  'private',
  {
    operationId: 'createProfile',
    summary: 'Create a profile, at most 100 for each user',
    method: 'POST',
    path: '/user-live-configs',
    body: { kind: 'json', codec: newProfileBody },
    response: { codec: single(profileView) },
    refusals: ['BuffersNotOrdered', 'TooManyProfiles', ...UNAVAILABLE],
  },
  async ({ body, caller, facts }, calls: ProfileCalls) => {
    const { name, ...given } = body
    const profile = { name, settings: settingsOf(given), ...vocabularyOf(given) }
    const created = await calls.createProfile(caller, profile)
    return E.isLeft(created) ? created : E.right({ data: presentProfile(created.right, facts) })
  },
)

const getProfile = privateRoute(
  'private',
  {
    operationId: 'getProfile',
    summary: 'Get one of your profiles',
    method: 'GET',
    path: '/user-live-configs/:id',
    params: pathId,
    response: { codec: single(profileView) },
    refusals: ['ProfileNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, facts }, calls: ProfileCalls) => {
    const profile = await calls.getProfile(caller.userId, params.id)
    if (E.isLeft(profile)) return profile
    if (O.isNone(profile.right)) return E.left({ _tag: 'ProfileNotFound' } as const)
    return E.right({ data: presentProfile(profile.right.value, facts) })
  },
)

const changeProfile = privateRoute(
  'private',
  {
    operationId: 'changeProfile',
    summary: 'Change one of your profiles; members that you leave out keep their values',
    method: 'PUT',
    path: '/user-live-configs/:id',
    params: pathId,
    body: { kind: 'json', codec: profileChangeBody },
    response: { codec: single(profileView) },
    refusals: ['ProfileNotFound', 'BuffersNotOrdered', ...UNAVAILABLE],
  },
  async ({ params, body, caller, facts }, calls: ProfileCalls) => {
    const profile = await calls.changeProfile(caller, params.id, profileChange(body))
    return E.isLeft(profile) ? profile : E.right({ data: presentProfile(profile.right, facts) })
  },
)

const deleteProfile = privateRoute(
  'private',
  {
    operationId: 'deleteProfile',
    summary: 'Delete one of your profiles, except the last one',
    method: 'DELETE',
    path: '/user-live-configs/:id',
    params: pathId,
    response: { codec: messageView },
    refusals: ['ProfileNotFound', 'LastProfile', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: ProfileCalls) => {
    const removed = await calls.removeProfile(caller, params.id)
    return E.isLeft(removed) ? removed : E.right({ message: 'Profile deleted' })
  },
)

export const profileRoutes: ReadonlyArray<Route<ProfileCalls>> =
  [listProfiles, createProfile, getProfile, changeProfile, deleteProfile]
