import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable } from '../errors.ts'
import { keyOf } from '../lives/queries/resume-point.ts'
import type { ResumePoint } from '../lives/queries/resume-point.ts'
import type { FinalsInPages, StoredFinals } from '../lives/queries/stored-finals.ts'
import type { TranscriptFrame } from '../pipeline/signals.ts'
import type { RecentFinals } from './recent-finals.ts'

/** What a socket has missed, in order. */
export interface MissedFinals {
  /** The next page of what is stored, which may be empty; null once there is no more. */
  readonly next: FinalsInPages['next']
  /** The rest, for one who listens to the bus from this very tick on. */
  readonly rest: () => ReadonlyArray<TranscriptFrame>
}

interface MissedFinalsDeps {
  readonly recent: RecentFinals
  readonly storedFinals: StoredFinals
}

/** Each stands behind its segment, a translation too. */
const isBefore = (one: TranscriptFrame, other: TranscriptFrame): boolean =>
  one.segment < other.segment ||
  (one.segment === other.segment && one.kind === 'transcription' && other.kind === 'translation')

/**
 * What a socket missed: from memory where that reaches back far enough, else from the log, with those in between that
 * only memory has because no store took them, and, last, what memory holds beyond it. Who calls `rest` and begins to
 * listen in the same tick loses no final and hears none twice: one that is stored and not yet told is left to the bus.
 */
export const openMissedFinals =
  ({ recent, storedFinals }: MissedFinalsDeps) =>
  (liveId: number, point: ResumePoint): TaskEither<Unavailable, MissedFinals> =>
  async () => {
    const finals = recent.of(liveId)
    const kept = finals?.search(point) ?? null
    if (finals !== undefined && kept !== null) {
      return E.right({ next: async () => E.right(null), rest: () => finals.told().filter(kept) })
    }
    const opened = await storedFinals(liveId, point)()
    if (E.isLeft(opened)) return opened
    const { wanted, next } = opened.right
    const given = new Set<string>()

    const fromMemory = (frames: ReadonlyArray<TranscriptFrame> | undefined): ReadonlyArray<TranscriptFrame> =>
      frames?.filter((frame) => wanted(frame) && !given.has(keyOf(frame))) ?? []

    const withDropped = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyArray<TranscriptFrame> => {
      let dropped = fromMemory(recent.of(liveId)?.dropped())
      return frames.flatMap((frame) => {
        const between = dropped.findIndex((one) => !isBefore(one, frame))
        const before = between === -1 ? dropped : dropped.slice(0, between)
        dropped = dropped.slice(before.length)
        return [...before, frame]
      })
    }

    const page = async (): Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>> => {
      const read = await next()
      if (E.isLeft(read) || read.right === null) return read
      const untold = recent.of(liveId)?.isUntold ?? (() => false)
      const frames = withDropped(read.right.filter((frame) => !untold(keyOf(frame))))
      for (const frame of frames) given.add(keyOf(frame))
      return E.right(frames)
    }

    // The first page is read before the socket opens: a store that is away refuses it.
    const first = await page()
    if (E.isLeft(first)) return first
    let ahead: typeof first | null = first
    return E.right({
      next: async () => {
        const read = ahead ?? (await page())
        ahead = null
        return read
      },
      rest: () => fromMemory(recent.of(liveId)?.told()),
    })
  }
