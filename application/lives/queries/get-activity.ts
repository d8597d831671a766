import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { toInstant } from '../../../domain/shared/instants.ts'
import { reading } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, Unavailable } from '../../errors.ts'
import type { Lags } from '../../pipeline/lags.ts'
import type { EventStore } from '../../ports/event-store.ts'
import { findOwnedLive } from '../owned-live.ts'
import type { OwnedLive } from '../owned-live.ts'
import { READABLE_AFTER_END_MS } from '../policies/forget-text.ts'

/** What goes on in a live at this moment. */
export interface LiveActivity {
  /** How far its text is behind its audio, in seconds; null where it does not run. */
  readonly lag: number | null
  readonly listeners: number
  readonly senderConnected: boolean
  /** Of its audio so far; where it does not run, up to the end of the last final that is kept. */
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
    return E.right({
      lag: lags.of(liveId),
      listeners: listeners.of(liveId),
      senderConnected: runs.hasSender(liveId),
      audioSeconds: runs.audioSeconds(liveId) ?? last?.end ?? 0,
      segments: last?.segment ?? 0,
      textUntil: textUntil(live.right, retentionMax),
    })
  }
}
