import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import { MAX_PROFILES } from '../../../domain/profiles/decider.ts'
import type { Caller } from '../../caller.ts'
import type { BuffersNotOrdered, TooManyProfiles, Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
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
) => Promise<Either<BuffersNotOrdered | TooManyProfiles | Unavailable, ProfileView>>

export interface CreateProfileDeps extends WriteDeps {
  readonly send: SendToProfiles
}

const tooMany: TooManyProfiles = { _tag: 'TooManyProfiles', maximum: MAX_PROFILES }

export const createProfile =
  (deps: CreateProfileDeps): CreateProfile =>
  async (caller, profile) => {
    const { environment, send } = deps
    const { userId } = caller
    const commandId = environment.newId()
    const cause = { correlationId: commandId, causationId: commandId, actor: `user:${userId}` }
    const id = await nextId(deps)('profile', cause)
    if (E.isLeft(id)) return id
    const [profileId, at] = [id.right, environment.now()]
    const command = { type: 'AddProfile', userId, ...profile, profileId, at } as const
    return pipe(
      await send(caller, command, commandId),
      E.bimap(
        (refusal) => mapRefusal('the profiles', refusal, {
          BuffersNotOrdered: buffersNotOrdered(profile.settings),
          TooManyProfiles: tooMany,
          ProfileExists: null,
          ProfileUnknown: null,
          LastProfile: null,
        }),
        () => ({ id: profileId, ...profile, createdAt: at, updatedAt: null }),
      ),
    )
  }
