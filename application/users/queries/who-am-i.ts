import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Caller } from '../../caller.ts'
import type { UserNotFound } from '../../errors.ts'
import type { UserView } from '../../ports/read-models.ts'
import { userViewOf } from '../known-user.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

/** From memory. */
export type WhoAmI = (caller: Caller) => Either<UserNotFound, UserView>

export interface WhoAmIDeps {
  readonly directory: Pick<UserDirectory, 'byId'>
}

export const whoAmI =
  ({ directory }: WhoAmIDeps): WhoAmI =>
  ({ userId }) =>
    pipe(
      directory.byId(userId),
      E.fromOption((): UserNotFound => ({ _tag: 'UserNotFound' })),
      E.map(userViewOf),
    )
