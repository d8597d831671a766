import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { exists, liveDecider } from '../../../domain/live/decider.ts'
import type { Live, LiveState } from '../../../domain/live/decider.ts'
import { liveStream } from '../../../domain/live/events.ts'
import type { LiveEvent } from '../../../domain/live/events.ts'
import { traverseAtOnce } from '../../at-once.ts'
import { actorOf } from '../../caller.ts'
import type { Caller } from '../../caller.ts'
import { endLive } from './end-live.ts'
import type { EndLiveDeps } from './end-live.ts'
import { isHurt } from '../../errors.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import { loadState } from '../../log/handle-command.ts'
import type { Loaded } from '../../log/handle-command.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Position, StoredEvent } from '../../ports/event-store.ts'
import type { LiveView } from '../../ports/read-models.ts'
import type { LiveSessions, Services } from '../../services.ts'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

export interface FinishLivesDeps extends EndLiveDeps {
  readonly credentials: Pick<Credentials, 'keyedHash'>
  /** Lets the live's pipeline speak out what it has heard. */
  readonly flush: LiveSessions['flush']
  /** Best effort, at most 2 s: until the read models have passed the position. */
  readonly whenProjected: (position: Position) => Promise<void>
  /** A live as its owner sees it, folded from its stream. */
  readonly viewOf: (stored: ReadonlyArray<StoredEvent>) => TaskEither<Unavailable, LiveView>
}

const FLUSH_MS = 2000
const ENDS_AT_ONCE = 16
const CAUSE = { status: 'finished', reason: 'finish_route' } as const

const isOwned = (state: LiveState, userId: number): state is Live => exists(state) && state.created.userId === userId

const isOpen = (live: Live): boolean => live.status === 'pending' || live.status === 'active'

export interface FinishLives extends Pick<Services, 'finishLive' | 'finishByAudioUrl'> {
  /** Whoever owns it: for administrators. */
  readonly finishAny: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveView>
}

/** The routes by which owners and administrators end lives. The answer comes after the release (R92). */
export const createFinishLives = (deps: FinishLivesDeps): FinishLives => {
  const load = (liveId: number) => loadState(deps)<LiveState, LiveEvent>(liveStream(liveId), liveDecider)

  const originOf = (caller: Caller) => {
    const commandId = deps.environment.newId()
    return { commandId, correlationId: commandId, actor: actorOf(caller) }
  }

  /** The newest first: streams of the open lives whose URL has this hash. */
  const openWithUrl = async (userId: number, hash: string): Promise<Either<Unavailable, ReadonlyArray<number>>> => {
    // Every open live has a reservation, so the write side knows them all: no lag, and no read model is needed.
    const admission = await deps.admission.refresh()
    if (E.isLeft(admission)) return admission
    const mine = admission.right.open.filter((reservation) => reservation.userId === userId).map(({ liveId }) => liveId)
    const matches: Array<number> = []
    for (const liveId of mine.toSorted((a, b) => b - a)) {
      const loaded = await load(liveId)()
      // One that cannot be read keeps nobody from finishing the others.
      if (E.isLeft(loaded) && isHurt(loaded.left)) continue
      if (E.isLeft(loaded)) return loaded
      const { state } = loaded.right
      if (isOwned(state, userId) && isOpen(state) && state.created.audioUrlHash === hash) matches.push(liveId)
    }
    return E.right(matches)
  }

  const finish =
    (caller: Caller, liveId: number, isFor: (state: LiveState) => state is Live): TaskEither<LiveNotFound | Unavailable, LiveView> =>
    async () => {
      const before = await load(liveId)()
      if (E.isLeft(before)) return before
      if (!isFor(before.right.state)) return E.left({ _tag: 'LiveNotFound' })
      if (!isOpen(before.right.state)) return await deps.viewOf(before.right.stored)()

      await deps.flush(liveId, FLUSH_MS)
      const ended = await endLive(deps, liveId, CAUSE, originOf(caller))()
      if (E.isLeft(ended)) return ended
      if (ended.right !== null) await deps.whenProjected(ended.right)
      const after: Either<Unavailable, Loaded<LiveState, LiveEvent>> = await load(liveId)()
      if (E.isLeft(after)) return after
      // Deleted meanwhile.
      if (!isFor(after.right.state)) return E.left({ _tag: 'LiveNotFound' })
      return await deps.viewOf(after.right.stored)()
    }

  return {
    finishLive: (caller, liveId) => finish(caller, liveId, (state): state is Live => isOwned(state, caller.userId)),
    finishAny: (caller, liveId) => finish(caller, liveId, exists),

    finishByAudioUrl: (caller, audioUrl, { skip, limit }) => async () => {
      const matches = await openWithUrl(caller.userId, deps.credentials.keyedHash('audio-url', audioUrl))
      if (E.isLeft(matches)) return matches
      await Promise.all(matches.right.map((liveId) => deps.flush(liveId, FLUSH_MS)))

      const ends = await traverseAtOnce(ENDS_AT_ONCE, matches.right, async (liveId) =>
        E.map((position: Position | null) => ({ liveId, position }))(await endLive(deps, liveId, CAUSE, originOf(caller))()))
      if (E.isLeft(ends)) return ends
      // Null: another call was faster, so it is not in this answer.
      const ended = ends.right.flatMap(({ liveId, position }) => (position === null ? [] : [{ liveId, position }]))
      const last = ended.reduce<Position | null>((max, { position }) => (max === null || position > max ? position : max), null)
      if (last !== null) await deps.whenProjected(last)

      const items: Array<LiveView> = []
      for (const { liveId } of ended.slice(skip, skip + limit)) {
        const loaded = await load(liveId)()
        if (E.isLeft(loaded)) return loaded
        if (!isOwned(loaded.right.state, caller.userId)) continue
        const view = await deps.viewOf(loaded.right.stored)()
        if (E.isLeft(view)) return view
        items.push(view.right)
      }
      return E.right({ items, total: ended.length })
    },
  }
}
