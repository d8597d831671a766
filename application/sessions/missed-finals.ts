import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable } from '../errors.ts'
import { finalKey, finalTextKey } from '../lives/queries/resume-point.ts'
import type { ResumePoint } from '../lives/queries/resume-point.ts'
import type { FinalsInPages, StoredFinals } from '../lives/queries/stored-finals.ts'
import type { TranscriptFrame } from '../pipeline/signals.ts'
import type { RecentFinals } from './recent-finals.ts'

/** What a socket has missed, in order. */
export interface MissedFinals {
  /** The next page of what is stored, which may be empty; null once there is no more. */
  readonly next: () => Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>>
  /**
   * The rest, for one who listens to the bus from this very tick on. Null: memory has let go of some of it meanwhile,
   * and `next` has it.
   */
  readonly rest: () => ReadonlyArray<TranscriptFrame> | null
  /** Right behind `rest`: wordings of what came from the log before memory was told of it; the bus may tell it yet. */
  readonly ahead: () => ReadonlySet<string>
}

interface MissedFinalsDeps {
  readonly recent: RecentFinals
  readonly storedFinals: StoredFinals
  /** Memory is told by another process: what is stored may reach it later than the log is read. */
  readonly isRelayed?: boolean
}

/** More than can be on its way from another process. */
const MOST_AHEAD = 1000

/** Each stands behind its segment, a translation too. */
const isBefore = (one: TranscriptFrame, other: TranscriptFrame): boolean =>
  one.segment < other.segment ||
  (one.segment === other.segment && one.kind === 'transcription' && other.kind === 'translation')

const byKey = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyMap<string, TranscriptFrame> =>
  new Map(frames.map((frame) => [finalKey(frame), frame]))

/**
 * What a socket missed: from memory where that reaches back far enough, else from the log, with those in between that
 * only memory has because no store took them, and, last, what memory holds beyond it. Who calls `rest` and begins to
 * listen in the same tick loses no final and hears none twice: one that is stored and not yet told is left to the bus.
 * Memory lets go of finals in the order of the log, so nothing lies between the log as it was read and memory where the
 * last one that it let go of was read, or had gone before the last page was asked for.
 */
export const openMissedFinals =
  ({ recent, storedFinals, isRelayed = false }: MissedFinalsDeps) =>
  (liveId: number, point: ResumePoint): TaskEither<Unavailable, MissedFinals> =>
  async () => {
    const evicted = (): string | null => recent.of(liveId)?.evicted() ?? null
    const kept = recent.of(liveId)?.search(point) ?? null
    const held = recent.of(liveId)?.told().filter(kept ?? (() => false)) ?? []
    /** Seen and not given: memory may let go of them before `rest`. */
    let owed = byKey(held)
    const given = new Set<string>()
    let read: ReadonlyArray<string> = []
    let evictedBefore = evicted()
    let wanted = kept ?? (() => false)

    const stillWanted = (frames: ReadonlyArray<TranscriptFrame> = []): ReadonlyArray<TranscriptFrame> =>
      frames.filter((frame) => wanted(frame) && !given.has(finalKey(frame)))

    const withDropped = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyArray<TranscriptFrame> => {
      let dropped = stillWanted(recent.of(liveId)?.dropped())
      return frames.flatMap((frame) => {
        const between = dropped.findIndex((one) => !isBefore(one, frame))
        const before = between === -1 ? dropped : dropped.slice(0, between)
        dropped = dropped.slice(before.length)
        return [...before, frame]
      })
    }

    let log: FinalsInPages | null = null
    /** `rest` asks for a page once for each that was read: who gets none has all that there is. */
    let hasAsked = false
    const page = async (): Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>> => {
      if (log === null) {
        const from = kept === null ? point : { kind: 'after' as const, segment: (held[0]?.segment ?? 1) - 1 }
        const opened = await storedFinals(liveId, from)()
        if (E.isLeft(opened)) return opened
        log = opened.right
        // The log has what memory held, or it comes with what was dropped.
        owed = byKey([])
        wanted = kept ?? log.wanted
      }
      const before = evicted()
      const stored = await log.next()
      if (E.isLeft(stored) || stored.right === null) return stored
      evictedBefore = before
      hasAsked = false
      const untold = recent.of(liveId)?.isUntold ?? (() => false)
      const fresh = stillWanted([...byKey([...owed.values(), ...stored.right]).values()])
      owed = byKey(fresh.filter((frame) => untold(finalKey(frame))))
      const frames = withDropped(fresh.filter((frame) => !untold(finalKey(frame))))
      for (const frame of frames) given.add(finalKey(frame))
      if (isRelayed) read = [...read, ...frames.map(finalTextKey)].slice(-MOST_AHEAD)
      return E.right(frames)
    }

    const hasGap = (): boolean => {
      const newest = evicted()
      return newest !== null && newest !== evictedBefore && !given.has(newest) && !owed.has(newest)
    }

    // Of what is to be read the first page is, before the socket opens: a store that is away refuses it.
    const opening = kept === null ? await page() : E.right(null)
    if (E.isLeft(opening)) return opening
    let ahead: typeof opening | null = opening
    return E.right({
      next: async () => {
        const read = ahead ?? (await page())
        ahead = null
        return read
      },
      rest: () => {
        const finals = recent.of(liveId)
        if (finals === undefined) return []
        if (!hasAsked && hasGap()) {
          hasAsked = true
          return null
        }
        const told = finals.told()
        const here = new Set(told.map(finalKey))
        const gone = [...owed.values()].filter((frame) => !here.has(finalKey(frame)) && !finals.isUntold(finalKey(frame)))
        return stillWanted([...gone, ...told])
      },
      ahead: () => {
        if (!isRelayed) return new Set()
        const told = new Set(recent.of(liveId)?.told().map(finalTextKey))
        return new Set(read.filter((wording) => !told.has(wording)))
      },
    })
  }
