import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import { LivesListed } from '../../../domain/admin-actions/events.ts'
import { traverseConcurrently } from '../../concurrency.ts'
import type { Caller } from '../../caller.ts'
import type { Unavailable } from '../../refusals.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { recordAdministration } from '../../log/record-administration.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { AllLivesQuery, LiveFacts, PageOfAllLives } from '../../ports/read-models.ts'
import { type AdminLive, type AdminLiveDeps, toAdminLive } from '../admin-live.ts'

export interface ListAllLivesDeps extends WriteDeps, AdminLiveDeps {
  readonly pageOfAllLives: PageOfAllLives
}

/** Maximum number of owners that are read at the same time, when they are not in memory. */
const OWNERS_AT_ONCE = 16

/** For administrators: lists the sessions of all users, newest first. Every access is recorded as an event. */
export type ListAllLives = (
  caller: Caller,
  query: AllLivesQuery,
  page: PageQuery,
) => Promise<Either<Unavailable, Page<AdminLive>>>

export const listAllLives =
  (deps: ListAllLivesDeps): ListAllLives =>
  async (caller, query, { skip, limit }) => {
    /** Records the access before the list is returned. */
    const record = ({ items }: Page<LiveFacts>): Promise<Either<Unavailable, void>> => {
      const liveIds = items.map(({ id }) => id)
      const data = { ownerId: query.userId, skip, limit, liveIds, at: deps.environment.now() }
      return recordAdministration(deps, caller, { type: LivesListed.type, data })
    }
    const forAdministrators = (
      items: ReadonlyArray<LiveFacts>,
    ): Promise<Either<Unavailable, ReadonlyArray<AdminLive>>> =>
      traverseConcurrently(OWNERS_AT_ONCE, items, (live) => toAdminLive(deps)(live))

    const found = await deps.pageOfAllLives(query, { skip, limit })
    if (E.isLeft(found)) return found
    const recorded = await record(found.right)
    if (E.isLeft(recorded)) return recorded
    const { items, total } = found.right
    return pipe(await forAdministrators(items), E.map((lives) => ({ items: lives, total })))
  }
