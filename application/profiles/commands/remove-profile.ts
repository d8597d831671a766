import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Caller } from '../../caller.ts'
import { type LastProfile, type ProfileNotFound, profileNotFound, type Unavailable } from '../../refusals.ts'
import { mapRefusal } from '../../log/map-refusal.ts'
import type { Environment } from '../../ports/environment.ts'
import type { SendToProfiles } from '../profile-writes.ts'

export type RemoveProfile = (
  caller: Caller,
  profileId: number,
) => Promise<Either<ProfileNotFound | LastProfile | Unavailable, void>>

export interface RemoveProfileDeps {
  readonly environment: Pick<Environment, 'newId'>
  readonly send: SendToProfiles
}


export const removeProfile =
  ({ environment, send }: RemoveProfileDeps): RemoveProfile =>
  async (caller, profileId) =>
    pipe(
      await send(caller, { type: 'RemoveProfile', profileId }, environment.newId()),
      E.mapLeft((refusal) => mapRefusal(refusal, { ProfileUnknown: profileNotFound })),
      E.map(() => undefined),
    )
