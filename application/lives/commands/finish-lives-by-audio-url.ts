import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { isOpen } from '../../../domain/live/state.ts'
import { ENDS_AT_ONCE, traverseConcurrently } from '../../concurrency.ts'
import { actorOf, type Caller } from '../../caller.ts'
import { isUnreadable, type Unavailable } from '../../refusals.ts'
import { originOf } from '../../log/origin.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Page, PageQuery } from '../../ports/documents.ts'
import type { Position } from '../../ports/event-store.ts'
import { SESSION_LISTS } from '../../ports/projector.ts'
import type { LiveView } from '../../ports/read-models.ts'
import { askWorkerToEnd, endAndRelease } from '../ending.ts'
import { viewOf } from '../queries/live-view.ts'
import { isOwned, loadLive } from '../load-live.ts'
import { type FinishDeps, FINISHED_BY_REQUEST } from './finish-live.ts'

/** Ends all open sessions of the caller with this audio URL. `page` limits only the answer: all sessions end. */
export type FinishLivesByAudioUrl = (
  caller: Caller,
  audioUrl: string,
  page: PageQuery,
) => Promise<Either<Unavailable, Page<LiveView>>>

export interface FinishLivesByAudioUrlDeps extends FinishDeps {
  readonly credentials: Pick<Credentials, 'keyedHash'>
}

/** Returns the ids of the user's open sessions whose URL has this hash, newest first. */
const openWithUrl = async (
  deps: FinishLivesByAudioUrlDeps,
  userId: number,
  hash: string,
): Promise<Either<Unavailable, ReadonlyArray<number>>> => {
  // Every open session has a reservation. A read model could lag behind.
  const admission = await deps.admission.refresh()
  if (E.isLeft(admission)) return admission
  const mine = admission.right.open.filter((reservation) => reservation.userId === userId).map(({ liveId }) => liveId)
  const matches: Array<number> = []
  for (const liveId of mine.toSorted((a, b) => b - a)) {
    const loaded = await loadLive(deps, liveId)
    // Damaged data of one session must not keep the others open.
    if (E.isLeft(loaded) && isUnreadable(loaded.left)) continue
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    if (isOwned(state, userId) && isOpen(state) && state.created.audioUrlHash === hash) matches.push(liveId)
  }
  return E.right(matches)
}

const viewsOf = async (
  deps: FinishLivesByAudioUrlDeps,
  userId: number,
  liveIds: ReadonlyArray<number>,
): Promise<Either<Unavailable, ReadonlyArray<LiveView>>> => {
  const views: Array<LiveView> = []
  for (const liveId of liveIds) {
    const loaded = await loadLive(deps, liveId)
    if (E.isLeft(loaded)) return loaded
    // The session was deleted in the meantime.
    if (!isOwned(loaded.right.state, userId)) continue
    views.push(viewOf(loaded.right.state))
  }
  return E.right(views)
}

export const finishLivesByAudioUrl =
  (deps: FinishLivesByAudioUrlDeps): FinishLivesByAudioUrl =>
  async (caller, audioUrl, { skip, limit }) => {
    const matches = await openWithUrl(deps, caller.userId, deps.credentials.keyedHash('audio-url', audioUrl))
    if (E.isLeft(matches)) return matches
    // All workers are asked at once, so all sessions transcribe their last audio at the same time.
    const asked = matches.right.map((liveId) => {
      const origin = originOf(deps, actorOf(caller))
      return { liveId, origin, answer: askWorkerToEnd(deps, liveId, FINISHED_BY_REQUEST, origin) }
    })
    const ends = await traverseConcurrently(ENDS_AT_ONCE, asked, async ({ liveId, origin, answer }) => {
      const byWorker = await answer
      const ended = byWorker === null
        ? await endAndRelease(deps, liveId, FINISHED_BY_REQUEST, origin)
        : E.right(byWorker.position)
      return E.map((position: Position | null) => ({ liveId, position }))(ended)
    })
    if (E.isLeft(ends)) return ends
    // Null: another call ended this session, so it is not part of this answer.
    const ended = ends.right.flatMap(({ liveId, position }) => (position === null ? [] : [{ liveId, position }]))
    const later = (max: Position | null, { position }: { readonly position: Position }): Position =>
      max === null || position > max ? position : max
    const last = ended.reduce<Position | null>(later, null)
    if (last !== null) await deps.whenProjected(SESSION_LISTS, last)

    const shown = ended.slice(skip, skip + limit).map(({ liveId }) => liveId)
    const items = await viewsOf(deps, caller.userId, shown)
    return E.isLeft(items) ? items : E.right({ items: items.right, total: ended.length })
  }
