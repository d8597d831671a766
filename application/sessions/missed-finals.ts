import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Unavailable } from '../errors.ts'
import { finalKey, finalTextKey } from '../lives/queries/resume-point.ts'
import type { ResumePoint } from '../lives/queries/resume-point.ts'
import type { FinalsInPages, StoredFinals } from '../lives/queries/stored-finals.ts'
import type { TranscriptFrame } from '../pipeline/signals.ts'
import type { RecentFinals } from './recent-finals.ts'

/** The finals that a socket has missed, in order. */
export interface MissedFinals {
  /** Returns the next page of stored finals, which may be empty; null at the end. */
  readonly next: () => Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>>
  /**
   * Returns the remaining finals from memory. The caller must subscribe to the bus in the same tick. Null: memory has
   * dropped some of them in the meantime, so `next` must be called again.
   */
  readonly rest: () => ReadonlyArray<TranscriptFrame> | null
  /** After `rest`: keys of finals that came from the log before this process received them. The bus may repeat them. */
  readonly ahead: () => ReadonlySet<string>
}

interface MissedFinalsDeps {
  readonly recent: RecentFinals
  readonly storedFinals: StoredFinals
  /** Memory is filled by another process, so a stored final may reach memory after it was read from the log. */
  readonly isRelayed?: boolean
}

/** More finals than can be in transit from another process. */
const MAX_AHEAD = 1000

/** Orders by segment; a translation follows its segment. */
const isBefore = (a: TranscriptFrame, b: TranscriptFrame): boolean =>
  a.segment < b.segment || (a.segment === b.segment && a.kind === 'transcription' && b.kind === 'translation')

const byKey = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyMap<string, TranscriptFrame> =>
  new Map(frames.map((frame) => [finalKey(frame), frame]))

/**
 * Collects the finals that a socket missed. Memory is used when it reaches back far enough. Otherwise the log is read
 * first, with the unstored finals from memory in between, then the newer finals from memory.
 *
 * A caller that calls `rest` and subscribes in the same tick gets every final exactly once: a stored final that is not
 * sent yet is left to the bus. Memory drops finals in the order of the log. So there is no gap between the log and
 * memory when the newest dropped final was read, or was dropped before the last page was requested.
 */
export const openMissedFinals =
  ({ recent, storedFinals, isRelayed = false }: MissedFinalsDeps) =>
  (liveId: number, point: ResumePoint): TaskEither<Unavailable, MissedFinals> =>
  async () => {
    const evicted = (): string | null => recent.of(liveId)?.evicted() ?? null
    const kept = recent.of(liveId)?.search(point) ?? null
    const held = recent.of(liveId)?.sent().filter(kept ?? (() => false)) ?? []
    /** Finals that were seen but not returned yet. Memory may drop them before `rest`. */
    let unsent = byKey(held)
    const given = new Set<string>()
    let read: ReadonlyArray<string> = []
    let evictedBefore = evicted()
    let wanted = kept ?? (() => false)

    const stillWanted = (frames: ReadonlyArray<TranscriptFrame> = []): ReadonlyArray<TranscriptFrame> =>
      frames.filter((frame) => wanted(frame) && !given.has(finalKey(frame)))

    const withDropped = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyArray<TranscriptFrame> => {
      let dropped = stillWanted(recent.of(liveId)?.dropped())
      return frames.flatMap((frame) => {
        const between = dropped.findIndex((final) => !isBefore(final, frame))
        const before = between === -1 ? dropped : dropped.slice(0, between)
        dropped = dropped.slice(before.length)
        return [...before, frame]
      })
    }

    let log: FinalsInPages | null = null
    /** `rest` requests another page only once per page that was read. If none comes, there is no more. */
    let hasAsked = false
    const page = async (): Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>> => {
      if (log === null) {
        const from = kept === null ? point : { kind: 'after' as const, segment: (held[0]?.segment ?? 1) - 1 }
        const opened = await storedFinals(liveId, from)()
        if (E.isLeft(opened)) return opened
        log = opened.right
        // The log contains the finals that memory held; unstored ones are inserted below.
        unsent = byKey([])
        wanted = kept ?? log.wanted
      }
      const before = evicted()
      const stored = await log.next()
      if (E.isLeft(stored) || stored.right === null) return stored
      evictedBefore = before
      hasAsked = false
      const isUnsent = recent.of(liveId)?.isUnsent ?? (() => false)
      const fresh = stillWanted([...byKey([...unsent.values(), ...stored.right]).values()])
      unsent = byKey(fresh.filter((frame) => isUnsent(finalKey(frame))))
      const frames = withDropped(fresh.filter((frame) => !isUnsent(finalKey(frame))))
      for (const frame of frames) given.add(finalKey(frame))
      if (isRelayed) read = [...read, ...frames.map(finalTextKey)].slice(-MAX_AHEAD)
      return E.right(frames)
    }

    const hasGap = (): boolean => {
      const newest = evicted()
      return newest !== null && newest !== evictedBefore && !given.has(newest) && !unsent.has(newest)
    }

    // Reads the first page before the socket opens, so that an unavailable store refuses the socket.
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
        const sentFinals = finals.sent()
        const here = new Set(sentFinals.map(finalKey))
        const isGone = (key: string): boolean => !here.has(key) && !finals.isUnsent(key)
        const gone = [...unsent.values()].filter((frame) => isGone(finalKey(frame)))
        return stillWanted([...gone, ...sentFinals])
      },
      ahead: () => {
        if (!isRelayed) return new Set()
        const sent = new Set(recent.of(liveId)?.sent().map(finalTextKey))
        return new Set(read.filter((key) => !sent.has(key)))
      },
    })
  }
