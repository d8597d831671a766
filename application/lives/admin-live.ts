import * as O from 'fp-ts/lib/Option.js'
import type { Option } from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { Unavailable } from '../errors.ts'
import type { Lags } from '../pipeline/lags.ts'
import type { LiveFacts } from '../ports/read-models.ts'

/** A live as administrators see it: no tokens, no audio URL, no text. */
export interface AdminLive extends LiveFacts {
  readonly username: string
  /** How far its text is behind its audio, in seconds; null where it does not run. */
  readonly lag: number | null
}

export interface AdminLiveDeps {
  /** Knows owners by name. */
  readonly directory: {
    readonly byId: (userId: number) => TaskEither<Unavailable, Option<{ readonly username: string }>>
  }
  readonly lags: Pick<Lags, 'of'>
}

export const adminLive =
  ({ directory, lags }: AdminLiveDeps) =>
  (live: LiveFacts): TaskEither<Unavailable, AdminLive> =>
    pipe(
      directory.byId(live.userId),
      TE.map(O.match(() => '', ({ username }) => username)),
      TE.map((username) => ({ ...live, username, lag: lags.of(live.id) })),
    )
