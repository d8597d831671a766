import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import { optionalVocabulary } from '../../../domain/live/vocabulary.ts'
import type { GivenVocabulary } from '../../../domain/live/vocabulary.ts'
import type { Profile } from '../../../domain/profiles/decider.ts'
import type { Caller } from '../../caller.ts'
import type { BuffersNotOrdered, ProfileNotFound, Unavailable } from '../../errors.ts'
import { meaningOf } from '../../log/meaning-of.ts'
import type { Environment } from '../../ports/environment.ts'
import type { ProfileView } from '../../ports/read-models.ts'
import { buffersNotOrdered } from '../profile-writes.ts'
import type { SendToProfiles } from '../profile-writes.ts'

/** What of a profile changes: the members that were sent. */
export interface ProfileChange {
  readonly name?: string
  readonly settings: Partial<EngineSettings>
  readonly vocabulary?: GivenVocabulary
}

export type ChangeProfile = (
  caller: Caller,
  profileId: number,
  change: ProfileChange,
) => TaskEither<ProfileNotFound | BuffersNotOrdered | Unavailable, ProfileView>

export interface ChangeProfileDeps {
  readonly environment: Pick<Environment, 'newId' | 'now'>
  readonly send: SendToProfiles
}

const notFound: ProfileNotFound = { _tag: 'ProfileNotFound' }

const viewOf = ({ profileId, name, settings, vocabulary, createdAt, updatedAt }: Profile): ProfileView => ({
  id: profileId, name, settings, ...optionalVocabulary(vocabulary), createdAt, updatedAt,
})

export const changeProfile =
  ({ environment, send }: ChangeProfileDeps): ChangeProfile =>
  (caller, profileId, change) =>
  async () => {
    const command = { type: 'ChangeProfile', profileId, ...change, at: environment.now() } as const
    const changed = await send(caller, command, environment.newId())()
    if (E.isLeft(changed)) {
      return E.left(meaningOf('the profiles', changed.left, {
        ProfileUnknown: notFound,
        BuffersNotOrdered: buffersNotOrdered(change.settings),
        ProfileExists: null,
        TooManyProfiles: null,
        LastProfile: null,
      }))
    }
    return E.fromNullable(notFound)(changed.right.filter((profile) => profile.profileId === profileId).map(viewOf)[0])
  }
