import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import { type GivenVocabulary, optionalVocabulary } from '../../../domain/live/vocabulary.ts'
import type { Profile } from '../../../domain/profiles/decider.ts'
import type { Caller } from '../../caller.ts'
import { type BuffersNotOrdered, type ProfileNotFound, profileNotFound, type Unavailable } from '../../refusals.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import type { Environment } from '../../ports/environment.ts'
import type { ProfileView } from '../../ports/read-models.ts'
import { buffersNotOrdered, type SendToProfiles } from '../profile-writes.ts'

export interface ProfileChange {
  readonly name?: string
  readonly settings: Partial<EngineSettings>
  readonly vocabulary?: GivenVocabulary
}

export type ChangeProfile = (
  caller: Caller,
  profileId: number,
  change: ProfileChange,
) => Promise<Either<ProfileNotFound | BuffersNotOrdered | Unavailable, ProfileView>>

export interface ChangeProfileDeps {
  readonly environment: Pick<Environment, 'newId'>
  readonly send: SendToProfiles
}

const viewOf = ({ profileId, name, settings, vocabulary, createdAt, updatedAt }: Profile): ProfileView => ({
  id: profileId, name, settings, ...optionalVocabulary(vocabulary), createdAt, updatedAt,
})

export const changeProfile =
  ({ environment, send }: ChangeProfileDeps): ChangeProfile =>
  async (caller, profileId, change) => {
    const command = { type: 'ChangeProfile', profileId, ...change } as const
    return pipe(
      await send(caller, command, environment.newId()),
      E.mapLeft((refusal) => mapRefusal(refusal, {
        ProfileUnknown: profileNotFound,
        BuffersNotOrdered: buffersNotOrdered(change.settings),
      })),
      E.map((profiles) => profiles.find((profile) => profile.profileId === profileId)),
      E.chainW(E.fromNullable(profileNotFound)),
      E.map(viewOf),
    )
  }
