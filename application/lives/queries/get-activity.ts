import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { toInstant } from '../../../domain/shared/instants.ts'
import { LiveTakenOver, SenderAttached, SenderDetached, liveStream } from '../../../domain/live/events.ts'
import { reading } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import type { Lags } from '../../pipeline/lags.ts'
import type { EventStore, StoredEvent } from '../../ports/event-store.ts'
import { findOwnedLive } from '../owned-live.ts'
import type { OwnedLive } from '../owned-live.ts'
import { READABLE_AFTER_END_MS } from '../policies/forget-text.ts'

/** What goes on in a live at this moment. */
export interface LiveActivity {
  /** How far its text is behind its audio, in seconds; null where it does not run in this process. */
  readonly lag: number | null
  /** Of this process. */
  readonly listeners: number
  readonly senderConnected: boolean
  /** Of its audio so far; where it does not run in this process, up to the end of the last final that is kept. */
  readonly audioSeconds: number
  /** Finals of its speakers that are kept. */
  readonly segments: number
  /** From when on its text can no longer be read; null where that is not known, or never. */
  readonly textUntil: string | null
}

/** Of a live of the caller's. */
export type GetActivity = (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveActivity>

/** Sockets that listen to lives of this process. */
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
    /** Another process runs it, so that the log has to say who is connected; never where there is one process. */
    readonly isElsewhere?: (liveId: number) => boolean
  }
  /** Milliseconds after its end for which a live keeps its text, 0 for ever. */
  readonly retentionMax: number
}

/** Behind the last final of a speaker there are its translations, and few others. */
const LOOKED_AT = 100

const finalOf = reading([SegmentFinalised])

const textUntil = ({ created, endedAt }: OwnedLive, retentionMax: number): string | null => {
  const keptMs = created.retention ? retentionMax : READABLE_AFTER_END_MS
  if (endedAt === null || keptMs === 0) return null
  return toInstant(new Date(Date.parse(endedAt) + keptMs).toISOString())
}

const senderOf = reading([SenderAttached, SenderDetached, LiveTakenOver])

/** As the log says: who had a place with a worker that is gone has it no more. */
const isSenderRecorded = async (
  store: Pick<EventStore, 'read'>,
  liveId: number,
): Promise<Either<Unavailable, boolean>> => {
  const newest = await store.read(liveStream(liveId), { direction: 'backwards', limit: LOOKED_AT })()
  return E.map((events: ReadonlyArray<StoredEvent>) => {
    const last = events.map(senderOf).find((event) => event !== undefined)
    return last?.type === 'SenderAttached'
  })(newest)
}

/** Reads at the ends of streams alone, however long the live is: a page may ask every second. */
export const getActivity = ({ store, lags, listeners, runs, retentionMax }: GetActivityDeps): GetActivity => {
  const find = findOwnedLive(store)
  return (caller, liveId) => async () => {
    const live = await find(caller, liveId)()
    if (E.isLeft(live)) return live
    const newest = await store.read(segmentsStream(liveId), { direction: 'backwards', limit: LOOKED_AT })()
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
      segments: last?.segment ?? 0,
      textUntil: textUntil(live.right, retentionMax),
    })
  }
}
