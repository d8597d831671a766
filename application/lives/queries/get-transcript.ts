import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { ERASED } from '../../../domain/shared/event.ts'
import { SegmentFinalised, segmentsStream } from '../../../domain/transcript/events.ts'
import type { TranscriptSegment } from '../../../domain/transcript/subtitles.ts'
import type { Caller } from '../../caller.ts'
import type { LiveNotFound, TranscriptNotFound, Unavailable } from '../../errors.ts'
import { openEvents } from '../../log/event-serialization.ts'
import type { Environment } from '../../ports/environment.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { Keyring } from '../../ports/keyring.ts'
import { findOwnedLive } from '../owned-live.ts'
import type { OwnedLive } from '../owned-live.ts'

/** What a live that keeps its text has said so far, by segment. */
export type Transcript = ReadonlyArray<TranscriptSegment>

/** Of a live of the caller's, also while it still runs. */
export type GetTranscript = (
  caller: Caller,
  liveId: number,
) => TaskEither<LiveNotFound | TranscriptNotFound | Unavailable, Transcript>

export interface GetTranscriptDeps {
  readonly store: Pick<EventStore, 'read'>
  readonly keyring: Pick<Keyring, 'open'>
  readonly environment: Pick<Environment, 'now'>
  /** Milliseconds after its end for which a live keeps its text, 0 for ever. */
  readonly retentionMax: number
}

/** Read and opened in one go; others get their turn in between. */
const AT_ONCE = 500

/** A translation comes later than its segment, and later ones may be faster: by segment, the speaker's words first. */
const inOrder = (a: TranscriptSegment, b: TranscriptSegment): number =>
  a.segment - b.segment || a.kind.localeCompare(b.kind) || a.language.localeCompare(b.language)

/** The text that a live keeps (D20): read from the log itself, since nothing else may hold a copy of it. */
export const getTranscript = ({ store, keyring, environment, retentionMax }: GetTranscriptDeps): GetTranscript => {
  const find = findOwnedLive(store)
  const open = openEvents(keyring)

  /** Exact, where the erasure itself may come a little later. */
  const isExpired = ({ endedAt }: OwnedLive): boolean =>
    endedAt !== null && retentionMax > 0 && Date.parse(environment.now()) - Date.parse(endedAt) >= retentionMax

  const readSegments = async (liveId: number): Promise<Either<Unavailable, ReadonlyArray<TranscriptSegment>>> => {
    const segments: Array<TranscriptSegment> = []
    for (let from = 0; ; from += AT_ONCE) {
      const stored = await store.read(segmentsStream(liveId), { from, limit: AT_ONCE })()
      if (E.isLeft(stored)) return stored
      const opened = await open(stored.right.filter(({ type }) => type === SegmentFinalised.type))()
      if (E.isLeft(opened)) return opened
      // The codec of their type has decoded them.
      segments.push(...(opened.right as ReadonlyArray<SegmentFinalised>).map(({ data }) => data))
      if (stored.right.length < AT_ONCE) return E.right(segments)
    }
  }

  return (caller, liveId) => async () => {
    const live = await find(caller, liveId)()
    if (E.isLeft(live)) return live
    if (!live.right.created.retention || isExpired(live.right)) return E.left({ _tag: 'TranscriptNotFound' })
    const segments = await readSegments(liveId)
    if (E.isLeft(segments)) return segments
    // Its key died between the two reads, or its retention is over.
    if (segments.right.some(({ text }) => text === ERASED)) return E.left({ _tag: 'TranscriptNotFound' })
    return E.right(segments.right.toSorted(inOrder))
  }
}
