import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Caller } from '../../caller.ts'
import type { Unavailable, UserNotFound } from '../../refusals.ts'
import type { UserView } from '../../ports/read-models.ts'
import { userViewOf } from '../known-user.ts'
import type { UserDirectory } from '../policies/user-directory.ts'

export type WhoAmI = (caller: Caller) => Promise<Either<UserNotFound | Unavailable, UserView>>

export interface WhoAmIDeps {
  readonly directory: Pick<UserDirectory, 'byId'>
}

export const whoAmI =
  ({ directory }: WhoAmIDeps): WhoAmI =>
  async ({ userId }) =>
    pipe(
      await directory.byId(userId),
      E.chainW(E.fromOption((): UserNotFound => ({ _tag: 'UserNotFound' }))),
      E.map(userViewOf),
    )
