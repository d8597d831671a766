import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import { MAX_PROFILES } from '../../../domain/profiles/decider.ts'
import { sequenceStream } from '../../../domain/shared/sequence.ts'
import type { Caller } from '../../caller.ts'
import type { BuffersNotOrdered, Contended, TooManyProfiles, Unavailable } from '../../refusals.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import { nextId } from '../../log/next-id.ts'
import type { ProfileView } from '../../ports/read-models.ts'
import { buffersNotOrdered, type SendToProfiles } from '../profile-writes.ts'

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

/** Another writer used the id of the profile first, so the request can be repeated. */
const idTaken: Contended = { _tag: 'Contended', stream: sequenceStream('profile') }

export const createProfile =
  (deps: CreateProfileDeps): CreateProfile =>
  async (caller, profile) => {
    const { environment, send } = deps
    const { userId } = caller
    const commandId = environment.newId()
    const cause = { correlationId: commandId, causationId: commandId, actor: `user:${userId}` }
    const profileId = await nextId(deps)('profile', cause)
    if (E.isLeft(profileId)) return profileId
    const id = profileId.right
    const added = await send(caller, { type: 'AddProfile', userId, profileId: id, ...profile }, commandId)
    if (E.isLeft(added)) {
      return E.left(mapRefusal(added.left, {
        BuffersNotOrdered: buffersNotOrdered(profile.settings), TooManyProfiles: tooMany, ProfileExists: idTaken,
      }))
    }
    const created = added.right.find((candidate) => candidate.profileId === id)
    if (created === undefined) return E.left(idTaken)
    return E.right({ id, ...profile, createdAt: created.createdAt, updatedAt: null })
  }
