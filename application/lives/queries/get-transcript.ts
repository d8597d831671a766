import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ERASED } from '../../../domain/shared/event.ts'
import { type ReadSegment, withDamagedSegments } from '../../../domain/transcript/damaged-segments.ts'
import type { TranscriptSegment } from '../../../domain/transcript/subtitles.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, TranscriptNotFound, Unavailable } from '../../refusals.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { findOwnedLive, type OwnedLive } from '../owned-live.ts'
import { readFinals } from './read-finals.ts'

/** The stored text of a session with retention, ordered by segment. A damaged event costs only its own segment. */
export type Transcript = ReadonlyArray<ReadSegment>

/** Returns the transcript of a session of the caller, also before its end. */
export type GetTranscript = (
  caller: Caller,
  liveId: number,
) => Promise<Either<LiveNotFound | TranscriptNotFound | Unavailable, Transcript>>

export interface GetTranscriptDeps {
  readonly store: Pick<EventStore, 'read' | 'now'>
  readonly keyring: Pick<Keyring, 'open'>
  /** Milliseconds for which a session keeps its text after its end. 0: without limit. */
  readonly retentionMax: number
}

/** Number of events in one read. Other work runs between two reads. */
const PAGE_EVENTS = 500

const notFound: TranscriptNotFound = { _tag: 'TranscriptNotFound' }

/** Orders by segment, the speech before its translations. Translations arrive later and may overtake each other. */
const inOrder = (a: TranscriptSegment, b: TranscriptSegment): number =>
  a.segment - b.segment || a.kind.localeCompare(b.kind) || a.language.localeCompare(b.language)

/** Reads the transcript from the log, because the log holds the only copy of the text. */
export const getTranscript = ({ store, keyring, retentionMax }: GetTranscriptDeps): GetTranscript => {
  const find = findOwnedLive(store)
  const read = readFinals({ store, keyring })

  /** True from the exact moment when the retention ends. The erasure itself may run a little later. */
  const isExpired = ({ endStoredAt }: OwnedLive): boolean =>
    endStoredAt !== null && retentionMax > 0 && store.now() - endStoredAt >= retentionMax

  const readSegments = async ({ created }: OwnedLive): Promise<Either<Unavailable, ReadonlyArray<ReadSegment>>> => {
    const segments: Array<TranscriptSegment | null> = []
    for (let from = 0; ; from += PAGE_EVENTS) {
      const page = await read(created.liveId, from, PAGE_EVENTS)
      if (E.isLeft(page)) return page
      const { finals, last } = page.right
      segments.push(...finals.map(({ data }) => data))
      if (last !== null && last >= from + PAGE_EVENTS - 1) continue
      const translations = created.translations.map(({ to }) => to)
      return E.right(withDamagedSegments(segments, created.liveId, { language: created.language, translations }))
    }
  }

  return async (caller, liveId) => {
    const live = await find(caller, liveId)
    if (E.isLeft(live)) return live
    if (!live.right.created.retention || isExpired(live.right)) return E.left(notFound)
    const segments = await readSegments(live.right)
    if (E.isLeft(segments)) return segments
    // The key was erased during the reads, or the retention has ended.
    if (segments.right.some(({ text }) => text === ERASED)) return E.left(notFound)
    return E.right(segments.right.toSorted(inOrder))
  }
}
