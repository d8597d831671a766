import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { ADMINISTRATION_STREAM, LivesListed } from '../../../domain/administration/events.ts'
import { actorOf } from '../../caller.ts'
import { traverseAtOnce } from '../../at-once.ts'
import type { Caller } from '../../caller.ts'
import type { Unavailable } from '../../errors.ts'
import { appendSurely } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { AllLivesQuery, PageOfAllLives } from '../../ports/read-models.ts'
import { adminLive } from '../admin-live.ts'
import type { AdminLive, AdminLiveDeps } from '../admin-live.ts'

export interface ListAllLivesDeps extends WriteDeps, AdminLiveDeps {
  readonly pageOfAllLives: PageOfAllLives
}

/** Owners looked up at a time, where they are not in memory. */
const OWNERS_AT_ONCE = 16

type Recorded = Promise<Either<Unavailable, void>>

const record = async (deps: ListAllLivesDeps, caller: Caller, data: LivesListed['data']): Recorded => {
  const id = deps.environment.newId()
  const correlationId = deps.environment.correlationId() ?? id
  const metadata = { correlationId, causationId: id, actor: actorOf(caller), recordedAt: data.at }
  const listed = { id, type: LivesListed.type, data, metadata }
  const appended = await appendSurely(deps, ADMINISTRATION_STREAM, 'any', [listed])
  if (E.isRight(appended)) return E.right(undefined)
  if (appended.left._tag === 'WrongRevision') throw new Error(`${ADMINISTRATION_STREAM} refused an append at any revision`)
  return E.left(appended.left)
}

/** For administrators: the lives of all, newest first. Every look at them is an event, as every end is. */
export type ListAllLives = (
  caller: Caller,
  query: AllLivesQuery,
  page: PageQuery,
) => TaskEither<Unavailable, Page<AdminLive>>

export const listAllLives =
  (deps: ListAllLivesDeps): ListAllLives =>
  (caller, query, { skip, limit }) =>
  async () => {
    const found = await deps.pageOfAllLives(query, { skip, limit })()
    if (E.isLeft(found)) return found
    const { items, total } = found.right
    // Before the answer: nobody sees what is not on record.
    const look = { ownerId: query.userId, skip, limit, liveIds: items.map(({ id }) => id), at: deps.environment.now() }
    const recorded = await record(deps, caller, look)
    if (E.isLeft(recorded)) return recorded
    const named = await traverseAtOnce(OWNERS_AT_ONCE, items, (live) => adminLive(deps)(live)())
    return E.map((lives: ReadonlyArray<AdminLive>) => ({ items: lives, total }))(named)
  }
