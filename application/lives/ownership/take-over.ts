import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveUnknown } from '../../../domain/live/commands.ts'
import { isOpen, type Live, type LiveState } from '../../../domain/live/state.ts'
import { FIRST_TERM } from '../../../domain/live/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../refusals.ts'
import { SAMPLE_RATE } from '../../ports/engine.ts'
import type { StoredEvent } from '../../ports/event-store.ts'
import { fenceSegments, LOOK_BACK_EVENTS } from './fence-segments.ts'
import { loadLive } from '../load-live.ts'
import { changeLive } from '../change-live.ts'
import type { SourcePoint } from '../source-point.ts'
import type { WorkerDeps } from './own-sessions.ts'

/** An open session of this worker, and the point where the earlier workers stopped. */
export interface TakenLive {
  readonly state: Live
  readonly point: SourcePoint
}

const finalOf = eventReader([SegmentFinalised])

/**
 * Returns the point where the earlier workers stopped. `segments`: the newest events of the transcript, newest first.
 */
const resumePointOf = ({ source: before }: Live, segments: ReadonlyArray<StoredEvent>): SourcePoint => {
  const final = segments.map(finalOf).find((segment) => segment?.data.kind === 'transcription')?.data
  const { end = 0, segment = 0, mediaSequence = null } = final ?? {}
  return {
    // The clock never goes back, so no time is used twice.
    sampleOffset: Math.max(before?.sampleOffset ?? 0, Math.ceil(end * SAMPLE_RATE)),
    nextSegment: Math.max(before?.nextSegment ?? 1, segment + 1),
    // Audio after the last final segment is not in the transcript, so it is read again.
    mediaSequence: mediaSequence ?? before?.mediaSequence ?? null,
  }
}

/** Reads the newest segments and fences them. A session in its first term needs no fence. */
const segmentsBefore = (
  deps: WorkerDeps,
  liveId: number,
  term: number,
): Promise<Either<Superseded | Unavailable, ReadonlyArray<StoredEvent>>> =>
  term === FIRST_TERM
    ? deps.store.read(segmentsStream(liveId), { direction: 'backwards', limit: LOOK_BACK_EVENTS })
    : fenceSegments(deps)({ liveId, worker: deps.worker.name, term })

const hasOlderTerm = (state: LiveState, term: number): state is Live =>
  isOpen(state) && state.term < term

/**
 * Makes this worker the owner of the session in this term. First the event LiveTakenOver makes the session refuse
 * commands of lower terms. Then a fence does the same for its transcript. Each step can be repeated, so the takeover
 * can run again after a crash.
 */
export const takeOver =
  (deps: WorkerDeps) =>
  async (
    liveId: number, term: number,
  ): Promise<Either<LiveUnknown | LiveOver | Superseded | Unavailable, TakenLive>> => {
    const worker = deps.worker.name
    let loaded = await loadLive(deps, liveId)
    if (E.isRight(loaded) && hasOlderTerm(loaded.right.state, term)) {
      const from = loaded.right.state.worker
      const taken = await changeLive(deps)(liveId, { type: 'TakeOverLive', worker, term })
      if (E.isLeft(taken)) return taken
      // After a restart a process continues its own sessions.
      if (from !== worker) deps.logger.info({ liveId, term, from, to: worker }, 'a session was taken over')
      // Loads again, because the earlier worker may have written before the takeover.
      loaded = await loadLive(deps, liveId)
    }
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    if (state.status === 'none') return E.left({ _tag: 'LiveUnknown' })
    if (!isOpen(state)) return E.left({ _tag: 'LiveOver' })
    if (state.term > term) return E.left({ _tag: 'Superseded' })
    const segments = await segmentsBefore(deps, liveId, term)
    if (E.isLeft(segments)) return segments
    return E.right({ state, point: resumePointOf(state, segments.right) })
  }
