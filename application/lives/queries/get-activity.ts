import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { toInstant } from '../../../domain/shared/instants.ts'
import { LiveTakenOver, SenderAttached, SenderDetached, liveStream } from '../../../domain/live/events.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../refusals.ts'
import { ignoredOptions, type ModelOption } from '../../catalogue/model-options.ts'
import type { Lags } from '../../pipeline/lags.ts'
import type { SampleFormat } from '../../pipeline/speech/sample-format.ts'
import type { Catalogue } from '../../ports/catalogue.ts'
import type { EventStore, StoredEvent } from '../../ports/event-store.ts'
import { findOwnedLive, type OwnedLive } from '../owned-live.ts'
import { READABLE_AFTER_END_MS } from '../policies/forget-text.ts'

export interface LiveActivity {
  /** Seconds by which the text lags behind the audio. Null when the session does not run in this process. */
  readonly lag: number | null
  readonly listeners: number
  readonly senderConnected: boolean
  /** Seconds of audio so far. For a session of another process: up to the end of the last stored final segment. */
  readonly audioSeconds: number
  /**
   * What the samples of the sender seem to be, if they are not 16-bit little-endian PCM. Null when they are, when this
   * is not certain, and when the session does not run in this process.
   */
  readonly wrongSamples: SampleFormat | null
  /** Number of stored final segments, without translations. */
  readonly segments: number
  /** When the text becomes unreadable. Null when this is not known yet, or never happens. */
  readonly textUntil: string | null
  /**
   * Options of the request that the model ignores. A prompt and hotwords are encrypted together, so both are named if
   * the session has one of them. Empty when the model is not installed any more.
   */
  readonly ignored: ReadonlyArray<ModelOption>
}

export type GetActivity = (caller: Caller, liveId: number) => Promise<Either<LiveNotFound | Unavailable, LiveActivity>>

/** Counts the listener sockets of this process: of one session, and of all sessions. */
export interface Listeners {
  readonly of: (liveId: number) => number
  readonly all: () => number
}

export interface GetActivityDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly lags: Pick<Lags, 'of'>
  readonly listeners: Pick<Listeners, 'of'>
  readonly runs: {
    readonly hasSender: (liveId: number) => boolean
    readonly audioSeconds: (liveId: number) => number | null
    readonly wrongSamples: (liveId: number) => SampleFormat | null
    /** True when another process runs the session, so only the log shows its sender. Absent in a single process. */
    readonly isElsewhere?: (liveId: number) => boolean
  }
  readonly catalogue: Pick<Catalogue, 'models'>
  /** Milliseconds for which a session with retention keeps its text after its end. 0: without limit. */
  readonly retentionMax: number
}

/** Events read from the end of a stream. The last final may be followed by its translations and a few other events. */
const NEWEST_EVENTS = 100

const finalOf = eventReader([SegmentFinalised])

const textUntil = ({ created, endedAt }: OwnedLive, retentionMax: number): string | null => {
  const keptMs = created.retention ? retentionMax : READABLE_AFTER_END_MS
  if (endedAt === null || keptMs === 0) return null
  return toInstant(new Date(Date.parse(endedAt) + keptMs).toISOString())
}

const senderOf = eventReader([SenderAttached, SenderDetached, LiveTakenOver])

/** Checks in the log whether a sender is connected. A takeover by another worker disconnects the sender. */
const isSenderRecorded = async (
  store: Pick<EventStore, 'read'>,
  liveId: number,
): Promise<Either<Unavailable, boolean>> => {
  const newest = await store.read(liveStream(liveId), { direction: 'backwards', limit: NEWEST_EVENTS })
  return E.map((events: ReadonlyArray<StoredEvent>) => {
    const last = events.map(senderOf).find((event) => event !== undefined)
    return last?.type === 'SenderAttached'
  })(newest)
}

/** Reads only the ends of streams, so the cost does not grow with the session, and web pages may poll every second. */
export const getActivity = ({
  store, lags, listeners, runs, catalogue, retentionMax,
}: GetActivityDeps): GetActivity => {
  const find = findOwnedLive(store)
  const ignored = ({ created }: OwnedLive): ReadonlyArray<ModelOption> => {
    const model = catalogue.models().find(({ id }) => id === created.model.id)
    return model === undefined ? [] : ignoredOptions(model, created.config, created.vocabulary !== undefined)
  }
  return async (caller, liveId) => {
    const live = await find(caller, liveId)
    if (E.isLeft(live)) return live
    const newest = await store.read(segmentsStream(liveId), { direction: 'backwards', limit: NEWEST_EVENTS })
    if (E.isLeft(newest)) return newest
    const finals = newest.right.flatMap((event) => finalOf(event)?.data ?? [])
    const last = finals.find(({ kind }) => kind === 'transcription')
    const isElsewhere = live.right.endedAt === null && runs.isElsewhere?.(liveId) === true
    const isRecorded = isElsewhere ? await isSenderRecorded(store, liveId) : E.right(false)
    if (E.isLeft(isRecorded)) return isRecorded
    return E.right({
      lag: lags.of(liveId),
      listeners: listeners.of(liveId),
      senderConnected: runs.hasSender(liveId) || isRecorded.right,
      audioSeconds: runs.audioSeconds(liveId) ?? last?.end ?? 0,
      wrongSamples: runs.wrongSamples(liveId),
      segments: last?.segment ?? 0,
      textUntil: textUntil(live.right, retentionMax),
      ignored: ignored(live.right),
    })
  }
}
