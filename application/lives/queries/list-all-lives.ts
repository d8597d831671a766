import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { ADMINISTRATION_STREAM, LivesListed } from '../../../domain/administration/events.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import { appendSurely } from '../../log/handle-command.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import type { Documents } from '../../ports/documents.ts'
import type { Lags } from '../../pipeline/lags.ts'
import { ALL_LIVES, LIVE_COUNTS, LIVES, LIVE_STATUSES, LIVE_TOTALS } from '../../ports/read-models.ts'
import type { LiveCountsDocument, LiveDocument, LiveFacts, LiveView } from '../../ports/read-models.ts'
import { newestFirst, totalOf } from '../../queries.ts'
import type { AdminLive } from '../../requests.ts'
import type { Services } from '../../services.ts'
import type { UserDirectory } from '../../users/policies/user-directory.ts'

export interface AdminLivesDeps extends WriteDeps {
  readonly documents: Pick<Documents, 'get' | 'page'>
  readonly directory: Pick<UserDirectory, 'byId'>
  /** Finishes a live whoever owns it. */
  readonly finish: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveView>
  readonly lags: Pick<Lags, 'of'>
}

/** What administrators do with the lives of all. Every look at them is an event, as every end is. */
export const createAdminLives = (deps: AdminLivesDeps): Pick<Services, 'listAllLives' | 'finishAnyLive'> => {
  const { documents, directory, environment, lags } = deps

  const adminLive = (live: LiveFacts): AdminLive => {
    const owner = directory.byId(live.userId)
    return { ...live, username: O.isSome(owner) ? owner.value.username : '', lag: lags.of(live.id) }
  }

  const count = async (userId: number | null, statuses: ReadonlyArray<LiveFacts['status']>): Promise<Either<Unavailable, number>> => {
    const found = await (userId === null ? documents.get(LIVE_TOTALS, ALL_LIVES) : documents.get(LIVE_COUNTS, String(userId)))()
    if (E.isLeft(found)) return found
    // The projection of these collections writes nothing else.
    const counts = O.toNullable(found.right) as unknown as LiveCountsDocument | null
    return E.right(counts === null ? 0 : statuses.reduce((sum, status) => sum + totalOf(counts, status), 0))
  }

  const record = async (caller: Caller, data: LivesListed['data']): Promise<Either<Unavailable, void>> => {
    const id = environment.newId()
    const metadata = { correlationId: environment.correlationId() ?? id, causationId: id, actor: actorOf(caller), recordedAt: data.at }
    const appended = await appendSurely(deps, ADMINISTRATION_STREAM, 'any', [{ id, type: LivesListed.type, data, metadata }])
    if (E.isRight(appended)) return E.right(undefined)
    if (appended.left._tag === 'WrongRevision') throw new Error(`${ADMINISTRATION_STREAM} refused an append at any revision`)
    return E.left(appended.left)
  }

  return {
    listAllLives: (caller, { userId, statuses: asked }, { skip, limit }) => async () => {
      const statuses = LIVE_STATUSES.filter((status) => asked.length === 0 || asked.includes(status))
      const total = await count(userId, statuses)
      if (E.isLeft(total)) return total
      const filter = {
        ...(userId === null ? {} : { userId }),
        ...(statuses.length === LIVE_STATUSES.length ? {} : { status: statuses }),
      }
      const found = skip < total.right ? await newestFirst(documents, LIVES, filter, { skip, limit }, total.right)() : E.right([])
      if (E.isLeft(found)) return found
      const items = found.right.map((document) => adminLive(document as unknown as LiveDocument))
      // Before the answer: nobody sees what is not on record.
      const liveIds = items.map(({ id }) => id)
      const recorded = await record(caller, { ownerId: userId, skip, limit, liveIds, at: environment.now() })
      return E.isLeft(recorded) ? recorded : E.right({ items, total: total.right })
    },

    finishAnyLive: (caller, liveId) => async () => {
      const finished = await deps.finish(caller, liveId)()
      return E.isLeft(finished) ? finished : E.right(adminLive(finished.right))
    },
  }
}
