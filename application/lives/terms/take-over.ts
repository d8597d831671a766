import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { exists } from '../../../domain/live/decider.ts'
import type { Live, LiveState } from '../../../domain/live/decider.ts'
import { FIRST_TERM, SourceStarted } from '../../../domain/live/events.ts'
import type { LiveEvent } from '../../../domain/live/events.ts'
import { reading } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import { SAMPLE_RATE } from '../../ports/engine.ts'
import type { StoredEvent } from '../../ports/event-store.ts'
import { changeLive } from '../change-live.ts'
import { fenceSegments, LOOK_BACK } from './fence-segments.ts'
import { isOpen, loadLive } from '../load-live.ts'
import type { SourcePoint } from '../source-point.ts'
import type { WorkerDeps } from './worker.ts'

/** Nobody has created it yet. */
export interface LiveUnknown {
  readonly _tag: 'LiveUnknown'
}

/** An open live of this worker's, and where the clock and the segments of the workers before it stopped. */
export interface TakenLive {
  readonly state: Live
  readonly point: SourcePoint
}

const finalOf = reading([SegmentFinalised])

const lastStart = (events: ReadonlyArray<LiveEvent>) =>
  events.findLast((event) => event.type === SourceStarted.type)?.data

/** Behind all that was heard or begun; `segments` are the newest that are stored, newest first. */
const pointOf = (events: ReadonlyArray<LiveEvent>, segments: ReadonlyArray<StoredEvent>): SourcePoint => {
  const before = lastStart(events)
  const final = segments.map(finalOf).find((one) => one?.data.kind === 'transcription')?.data
  const { end = 0, segment = 0, mediaSequence = null } = final ?? {}
  return {
    // The clock never goes back, and no second of it is given twice.
    sampleOffset: Math.max(before?.sampleOffset ?? 0, Math.ceil(end * SAMPLE_RATE)),
    nextSegment: Math.max(before?.nextSegment ?? 1, segment + 1),
    // What was heard after the last final became no text: it is heard again.
    mediaSequence: mediaSequence ?? before?.mediaSequence ?? null,
  }
}

/** The segments of a live that has one term alone need no fence. */
const segmentsBefore = (
  deps: WorkerDeps,
  liveId: number,
  term: number,
): TaskEither<Superseded | Unavailable, ReadonlyArray<StoredEvent>> =>
  term === FIRST_TERM
    ? deps.store.read(segmentsStream(liveId), { direction: 'backwards', limit: LOOK_BACK })
    : fenceSegments(deps)({ liveId, worker: deps.worker.name, term })

const isBehind = (state: LiveState, term: number): boolean => exists(state) && isOpen(state) && state.term < term

/**
 * Makes the live this worker's for the term: first its stream, behind which every command of a lower term is refused,
 * then its segments. Each step repeats without harm, so that whoever dies in between begins again.
 */
export const takeOver =
  (deps: WorkerDeps) =>
  (liveId: number, term: number): TaskEither<LiveUnknown | LiveOver | Superseded | Unavailable, TakenLive> =>
  async () => {
    const worker = deps.worker.name
    let loaded = await loadLive(deps, liveId)()
    if (E.isRight(loaded) && isBehind(loaded.right.state, term)) {
      const taken = await changeLive(deps)(liveId, { type: 'TakeOverLive', worker, term, at: deps.environment.now() })()
      if (E.isLeft(taken)) return taken
      // What the worker before had begun until then counts.
      loaded = await loadLive(deps, liveId)()
    }
    if (E.isLeft(loaded)) return loaded
    const { state, events } = loaded.right
    if (state.status === 'none') return E.left({ _tag: 'LiveUnknown' })
    if (!exists(state) || !isOpen(state)) return E.left({ _tag: 'LiveOver' })
    if (state.term > term) return E.left({ _tag: 'Superseded' })
    const segments = await segmentsBefore(deps, liveId, term)()
    if (E.isLeft(segments)) return segments
    return E.right({ state, point: pointOf(events, segments.right) })
  }
