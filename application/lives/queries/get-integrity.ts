import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { liveStream } from '../../../domain/live/events.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import type { Environment } from '../../ports/environment.ts'
import type { StreamIntegrity, VerifyStream } from '../../ports/integrity.ts'
import type { FactsOfLive } from '../../ports/read-models.ts'

/**
 * Whether the rows of a live's stream, and their links to the rows around them, are what was written: no accidental
 * damage, and no careless edit. Who computes all hashes anew is not found.
 */
export interface LiveIntegrity extends Omit<StreamIntegrity, 'damages'> {
  readonly status: 'intact' | 'damaged' | 'unavailable'
  /** By place in the history; 0 is the stream as a whole. */
  readonly damaged: ReadonlyArray<{ readonly id: number; readonly reason: string }>
  readonly checkedAt: string
}

/** Of a live of the caller's. */
export type GetIntegrity = (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveIntegrity>

export interface IntegrityDeps {
  readonly verifyStream: VerifyStream
  readonly environment: Pick<Environment, 'now'>
}

const UNAVAILABLE = { status: 'unavailable', rows: 0, first: null, last: null, headHash: null, damaged: [] } as const

/** Of a live that there is. */
export const integrityOf =
  ({ verifyStream, environment }: IntegrityDeps) =>
  (liveId: number): TaskEither<Unavailable, LiveIntegrity> =>
  async () => {
    const verified = await verifyStream(liveStream(liveId))()
    if (E.isLeft(verified)) return verified
    const checkedAt = environment.now()
    if (verified.right === null) return E.right({ ...UNAVAILABLE, checkedAt })
    const { damages, ...found } = verified.right
    const damaged = damages.map(({ revision, reason }) => ({ id: revision === null ? 0 : revision + 1, reason }))
    return E.right({ ...found, status: damaged.length === 0 ? 'intact' : 'damaged', damaged, checkedAt })
  }

/** Whose it is says the list: the stream itself may be what is damaged. */
export const getIntegrity = (deps: IntegrityDeps & { readonly factsOfLive: FactsOfLive }): GetIntegrity => {
  const judge = integrityOf(deps)
  return (caller, liveId) => async () => {
    const known = await deps.factsOfLive(liveId)()
    if (E.isLeft(known)) return known
    const isOwn = O.isSome(known.right) && known.right.value.userId === caller.userId
    return isOwn ? await judge(liveId)() : E.left({ _tag: 'LiveNotFound' })
  }
}
