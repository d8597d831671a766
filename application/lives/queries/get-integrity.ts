import * as O from 'fp-ts/lib/Option.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { pipe } from 'fp-ts/lib/function.js'
import { liveStream } from '../../../domain/live/events.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import type { Environment } from '../../ports/environment.ts'
import type { StreamIntegrity, VerifyStream } from '../../ports/integrity.ts'
import type { FactsOfLive } from '../../ports/read-models.ts'

/**
 * Shows whether the stored rows of a session, and their links to the neighbouring rows, are unchanged. The check finds
 * accidental damage and careless edits. It does not find an edit whose author recomputed all hashes.
 */
export interface LiveIntegrity extends Omit<StreamIntegrity, 'damages'> {
  readonly status: 'intact' | 'damaged' | 'unavailable'
  /** The damage found. `id`: position in the history. 0 stands for the whole stream. */
  readonly damaged: ReadonlyArray<{ readonly id: number; readonly reason: string }>
  readonly checkedAt: string
}

/** Checks a session of the caller. */
export type GetIntegrity = (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveIntegrity>

export interface IntegrityDeps {
  readonly verifyStream: VerifyStream
  readonly environment: Pick<Environment, 'now'>
}

const UNAVAILABLE = { status: 'unavailable', rows: 0, first: null, last: null, headHash: null, damaged: [] } as const

const notFound: LiveNotFound = { _tag: 'LiveNotFound' }

/** Checks an existing session of any owner. */
export const checkIntegrity =
  ({ verifyStream, environment }: IntegrityDeps) =>
  (liveId: number): TaskEither<Unavailable, LiveIntegrity> =>
    pipe(
      verifyStream(liveStream(liveId)),
      TE.map((verified) => {
        const checkedAt = environment.now()
        if (verified === null) return { ...UNAVAILABLE, checkedAt }
        const { damages, ...found } = verified
        const damaged = damages.map(({ revision, reason }) => ({ id: revision === null ? 0 : revision + 1, reason }))
        return { ...found, status: damaged.length === 0 ? 'intact' : 'damaged', damaged, checkedAt }
      }),
    )

/** Takes the owner from the read model, because the stream itself may be damaged. */
export const getIntegrity = (deps: IntegrityDeps & { readonly factsOfLive: FactsOfLive }): GetIntegrity => {
  const check = checkIntegrity(deps)
  return (caller, liveId) =>
    pipe(
      deps.factsOfLive(liveId),
      TE.filterOrElseW(O.exists(({ userId }) => userId === caller.userId), () => notFound),
      TE.chainW(() => check(liveId)),
    )
}
