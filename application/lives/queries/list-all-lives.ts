import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { LivesListed } from '../../../domain/administration/events.ts'
import { traverseAtOnce } from '../../at-once.ts'
import type { Caller } from '../../caller.ts'
import type { Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { recordAct } from '../../log/record-act.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { AllLivesQuery, PageOfAllLives } from '../../ports/read-models.ts'
import { adminLive } from '../admin-live.ts'
import type { AdminLive, AdminLiveDeps } from '../admin-live.ts'

export interface ListAllLivesDeps extends WriteDeps, AdminLiveDeps {
  readonly pageOfAllLives: PageOfAllLives
}

/** Owners looked up at a time, where they are not in memory. */
const OWNERS_AT_ONCE = 16

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
    const recorded = await recordAct(deps, caller, { type: LivesListed.type, data: look })
    if (E.isLeft(recorded)) return recorded
    const named = await traverseAtOnce(OWNERS_AT_ONCE, items, (live) => adminLive(deps)(live)())
    return E.map((lives: ReadonlyArray<AdminLive>) => ({ items: lives, total }))(named)
  }
