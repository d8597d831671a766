import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { exists } from '../../../domain/live/decider.ts'
import { SourceStarted } from '../../../domain/live/events.ts'
import type { LiveEvent } from '../../../domain/live/events.ts'
import { reading } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { Unavailable } from '../../errors.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { SAMPLE_RATE } from '../../ports/engine.ts'
import { attachedLive } from '../attached-live.ts'
import type { AttachedLive } from '../attached-live.ts'
import { isOpen, loadLive } from '../load-live.ts'
import type { SourcePoint } from '../source-point.ts'

/** An open auto-started live and where its source goes on; null for any other live. */
export type AutoStarted = (
  liveId: number,
) => TaskEither<Unavailable, { readonly live: AttachedLive; readonly point: SourcePoint } | null>

/** Stored segments in which the last transcription is looked for; translations may stand behind it. */
const LOOK_BACK = 200

/** Seconds and number of the last final segment, and of its source what was in it. */
interface LastFinal {
  readonly end: number
  readonly segment: number
  readonly mediaSequence: number | null
}

const finalOf = reading([SegmentFinalised])

const lastStart = (events: ReadonlyArray<LiveEvent>) =>
  events.findLast((event) => event.type === SourceStarted.type)?.data

const pointOf = (events: ReadonlyArray<LiveEvent>, final: LastFinal): SourcePoint => {
  const before = lastStart(events)
  return {
    // The clock never goes back, and no second of it is given twice.
    sampleOffset: Math.max(before?.sampleOffset ?? 0, Math.ceil(final.end * SAMPLE_RATE)),
    nextSegment: Math.max(before?.nextSegment ?? 1, final.segment + 1),
    // What was heard after the last final became no text: it is heard again.
    mediaSequence: final.mediaSequence ?? before?.mediaSequence ?? null,
  }
}

/** What a process needs to pull an auto-started live on from where an earlier one stopped. */
export const autoStarted =
  (deps: Pick<WriteDeps, 'store' | 'keyring'>): AutoStarted =>
  (liveId) =>
  async () => {
    const loaded = await loadLive(deps, liveId)()
    if (E.isLeft(loaded)) return loaded
    const { state, events } = loaded.right
    if (!exists(state) || !isOpen(state) || !state.created.autoStart) return E.right(null)
    const newest = await deps.store.read(segmentsStream(liveId), { direction: 'backwards', limit: LOOK_BACK })()
    if (E.isLeft(newest)) return newest
    const final = newest.right.map(finalOf).find((one) => one?.data.kind === 'transcription')?.data
    const { end = 0, segment = 0, mediaSequence = null } = final ?? {}
    const point = pointOf(events, { end, segment, mediaSequence })
    return E.right({ live: attachedLive(state), point })
  }
