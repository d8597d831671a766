import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TranscriptFrame } from '../../domain/transcript/frame.ts'
import type { Unavailable } from '../refusals.ts'
import { finalKey, finalTextKey, type ResumePoint } from '../lives/queries/resume-point.ts'
import type { FinalsInPages, StoredFinals } from '../lives/queries/stored-finals.ts'
import type { RecentFinals } from './recent-finals.ts'

export interface MissedFinals {
  /** Returns the next page of stored finals, which may be empty. Null at the end. */
  readonly next: () => Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>>
  /**
   * Returns the remaining finals from memory. The caller must subscribe to the bus in the same tick. Null: memory has
   * evicted some of them in the meantime, so `next` must be called again.
   */
  readonly rest: () => ReadonlyArray<TranscriptFrame> | null
  /**
   * Call it after `rest`. Returns the keys of finals that were read from the log before their worker sent them to this
   * process. The bus may deliver them again, so the caller must skip them.
   */
  readonly ahead: () => ReadonlySet<string>
}

interface MissedFinalsDeps {
  readonly recent: RecentFinals
  readonly storedFinals: StoredFinals
  /** True when another process sends the finals, so a stored final may reach memory after it was read from the log. */
  readonly isRelayed?: boolean
}

/** Number of keys that are kept for `ahead`: more finals than can be on their way from another process. */
const MAX_AHEAD = 1000

/** Orders by segment. A translation follows its segment. */
const isBefore = (a: TranscriptFrame, b: TranscriptFrame): boolean =>
  a.segment < b.segment || (a.segment === b.segment && a.kind === 'transcription' && b.kind === 'translation')

const byKey = (frames: ReadonlyArray<TranscriptFrame>): ReadonlyMap<string, TranscriptFrame> =>
  new Map(frames.map((frame) => [finalKey(frame), frame]))

/**
 * Collects the finals that a socket missed. If memory reaches back far enough, only memory is used. Otherwise the log
 * is read first, and the newer finals come from memory. Finals that could not be stored are only in memory. They are
 * inserted at their place among the finals of the log.
 *
 * A caller that calls `rest` and subscribes in the same tick gets every final exactly once. A final that is stored but
 * not sent yet is left to the bus.
 *
 * Memory evicts finals in the order of the log. So no final is missing between the log and memory in two cases: the
 * newest evicted final was read, or it was evicted before the last page was requested.
 */
export const openMissedFinals =
  ({ recent, storedFinals, isRelayed = false }: MissedFinalsDeps) =>
  async (liveId: number, point: ResumePoint): Promise<Either<Unavailable, MissedFinals>> => {
    const evicted = (): string | null => recent.of(liveId)?.evicted() ?? null
    const wantedInMemory = recent.of(liveId)?.search(point) ?? null
    const inMemory = recent.of(liveId)?.sent().filter(wantedInMemory ?? (() => false)) ?? []
    /** Finals that were found but not returned yet. Memory may evict them before `rest`. */
    let unsent = byKey(inMemory)
    const returned = new Set<string>()
    /** Keys (with text) of the finals that were read from the log. */
    let readKeys: ReadonlyArray<string> = []
    let evictedBefore = evicted()
    let wanted = wantedInMemory ?? (() => false)

    const stillWanted = (frames: ReadonlyArray<TranscriptFrame> = []): ReadonlyArray<TranscriptFrame> =>
      frames.filter((frame) => wanted(frame) && !returned.has(finalKey(frame)))

    /** Inserts the finals that could not be stored, which only memory holds. */
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
    /** True after `rest` has requested another page. It does so only once for each page. The log may have ended. */
    let hasAsked = false
    const page = async (): Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>> => {
      if (log === null) {
        const firstSegment = inMemory[0]?.segment ?? 1
        const from = wantedInMemory === null ? point : { kind: 'after' as const, segment: firstSegment - 1 }
        const opened = await storedFinals(liveId, from)
        if (E.isLeft(opened)) return opened
        log = opened.right
        // The log contains the finals that memory held. Unstored finals are inserted below.
        unsent = byKey([])
        wanted = wantedInMemory ?? log.wanted
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
      for (const frame of frames) returned.add(finalKey(frame))
      if (isRelayed) readKeys = [...readKeys, ...frames.map(finalTextKey)].slice(-MAX_AHEAD)
      return E.right(frames)
    }

    const hasGap = (): boolean => {
      const newest = evicted()
      return newest !== null && newest !== evictedBefore && !returned.has(newest) && !unsent.has(newest)
    }

    // Reads the first page before the socket opens, so the socket is refused when the store is unavailable.
    const opening = wantedInMemory === null ? await page() : E.right(null)
    if (E.isLeft(opening)) return opening
    let firstPage: typeof opening | null = opening
    return E.right({
      next: async () => {
        const read = firstPage ?? (await page())
        firstPage = null
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
        return new Set(readKeys.filter((key) => !sent.has(key)))
      },
    })
  }
