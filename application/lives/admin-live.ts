import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Unavailable } from '../refusals.ts'
import type { Lags } from '../pipeline/lags.ts'
import type { LiveFacts } from '../ports/read-models.ts'

/** A session as administrators see it: no tokens, no audio URL, no text. */
export interface AdminLive extends LiveFacts {
  readonly username: string
  /** Seconds by which the text lags behind the audio. Null when the session does not run in this process. */
  readonly lag: number | null
}

export interface AdminLiveDeps {
  /** Resolves the names of owners. */
  readonly directory: {
    readonly byId: (userId: number) => Promise<Either<Unavailable, Option<{ readonly username: string }>>>
  }
  readonly lags: Pick<Lags, 'of'>
}

/** Adds the owner's name and the lag to a session. */
export const toAdminLive =
  ({ directory, lags }: AdminLiveDeps) =>
  async (live: LiveFacts): Promise<Either<Unavailable, AdminLive>> =>
    pipe(
      await directory.byId(live.userId),
      E.map(O.match(() => '', ({ username }) => username)),
      E.map((username) => ({ ...live, username, lag: lags.of(live.id) })),
    )
