import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Caller } from '../../caller.ts'
import type { LastProfile, ProfileNotFound, Unavailable } from '../../errors.ts'
import { meaningOf } from '../../log/meaning-of.ts'
import type { Environment } from '../../ports/environment.ts'
import type { SendToProfiles } from '../profile-writes.ts'

export type RemoveProfile = (
  caller: Caller,
  profileId: number,
) => TaskEither<ProfileNotFound | LastProfile | Unavailable, void>

export interface RemoveProfileDeps {
  readonly environment: Pick<Environment, 'newId' | 'now'>
  readonly send: SendToProfiles
}

const notFound: ProfileNotFound = { _tag: 'ProfileNotFound' }
const last: LastProfile = { _tag: 'LastProfile' }

export const removeProfile =
  ({ environment, send }: RemoveProfileDeps): RemoveProfile =>
  (caller, profileId) =>
  async () => {
    const command = { type: 'RemoveProfile', profileId, at: environment.now() } as const
    const removed = await send(caller, command, environment.newId())()
    if (E.isRight(removed)) return E.right(undefined)
    return E.left(meaningOf('the profiles', removed.left, {
      ProfileUnknown: notFound,
      LastProfile: last,
      ProfileExists: null,
      TooManyProfiles: null,
      BuffersNotOrdered: null,
    }))
  }
