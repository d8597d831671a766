import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import { MAX_PROFILES } from '../../../domain/profiles/decider.ts'
import type { Caller } from '../../caller.ts'
import type { BuffersNotOrdered, TooManyProfiles, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { meaningOf } from '../../log/meaning-of.ts'
import { nextId } from '../../log/next-id.ts'
import type { ProfileView } from '../../ports/read-models.ts'
import { buffersNotOrdered } from '../profile-writes.ts'
import type { SendToProfiles } from '../profile-writes.ts'

export interface NewProfile {
  readonly name: string
  readonly settings: EngineSettings
  readonly vocabulary?: GivenVocabulary
}

export type CreateProfile = (
  caller: Caller,
  profile: NewProfile,
) => TaskEither<BuffersNotOrdered | TooManyProfiles | Unavailable, ProfileView>

export interface CreateProfileDeps extends WriteDeps {
  readonly send: SendToProfiles
}

const tooMany: TooManyProfiles = { _tag: 'TooManyProfiles', maximum: MAX_PROFILES }

export const createProfile =
  (deps: CreateProfileDeps): CreateProfile =>
  (caller, profile) =>
  async () => {
    const { environment, send } = deps
    const { userId } = caller
    const commandId = environment.newId()
    const cause = { correlationId: commandId, causationId: commandId, actor: `user:${userId}` }
    const taken = await nextId(deps)('profile', cause)()
    if (E.isLeft(taken)) return taken
    const profileId = taken.right
    const at = environment.now()
    const added = await send(caller, { type: 'AddProfile', profileId, userId, ...profile, at }, commandId)()
    if (E.isRight(added)) return E.right({ id: profileId, ...profile, createdAt: at, updatedAt: null })
    return E.left(meaningOf('the profiles', added.left, {
      BuffersNotOrdered: buffersNotOrdered(profile.settings),
      TooManyProfiles: tooMany,
      ProfileExists: null,
      ProfileUnknown: null,
      LastProfile: null,
    }))
  }
