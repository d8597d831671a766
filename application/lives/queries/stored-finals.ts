import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { exists, isOpen, type Live } from '../../../domain/live/state.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import { wrapped } from '../../../domain/transcript/captions.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream, termOf } from '../../../domain/transcript/events.ts'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import type { Unavailable } from '../../refusals.ts'
import { readUndamaged, type UndamagedRead } from '../../log/read-undamaged.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import type { Revision, StoredEvent, StoreUnavailable } from '../../ports/event-store.ts'
import { loadLive } from '../load-live.ts'
import { READABLE_AFTER_END_MS } from '../policies/forget-text.ts'
import { createBackwardSearch, type IsWanted, type ResumePoint } from './resume-point.ts'
import { readFinals } from './read-finals.ts'
import { createSharedPages } from './shared-pages.ts'

/** A final segment as it was sent to listeners, with the leadership term of the worker that stored it. */
export interface StoredFinal extends TranscriptFrame {
  readonly term: number
}

/** Stored finals in the order of the log, so their terms never decrease. */
export interface FinalsInPages {
  readonly wanted: IsWanted
  /** Returns the next page, which may be empty. Null at the end. A call after null reads the last page again. */
  readonly next: () => Promise<Either<Unavailable, ReadonlyArray<StoredFinal> | null>>
}

/** Returns the stored finals from `point` on. Returns no finals for a deleted session, or a minute after the end. */
export type StoredFinals = (liveId: number, point: ResumePoint) => Promise<Either<Unavailable, FinalsInPages>>

type StoredFinalsDeps = Pick<WriteDeps, 'store' | 'keyring' | 'environment' | 'timers' | 'states'>

type AfterPoint = Extract<ResumePoint, { readonly kind: 'after' }>

/** Events of one page. Pages are short, so other work runs between them. */
const PAGE_EVENTS = 200
/** Events of one step of the backward search. Most listeners return within seconds, so few steps are needed. */
const SEARCH_PAGE_EVENTS = 50
/** Events of one step of the binary search: enough to contain a final that is not a translation, in most cases. */
const PROBE_EVENTS = 20

interface FinalsPage {
  readonly finals: ReadonlyArray<StoredFinal>
  readonly isFull: boolean
}

/** The revision to read from, and the finals after it that the socket requests. */
interface Start {
  readonly start: Revision
  readonly wanted: IsWanted
}

const finalOf = eventReader([SegmentFinalised])

/** Kind and segment of a stored event. An unreadable event has no segment. */
const placeOf = (event: StoredEvent): Pick<TranscriptFrame, 'kind' | 'segment'> =>
  finalOf(event)?.data ?? { kind: 'translation', segment: Number.POSITIVE_INFINITY }

/** Reads finals from the log and rebuilds the frames that were sent to listeners. */
export const storedFinals = (deps: StoredFinalsDeps): StoredFinals => {
  const { store, keyring, timers } = deps
  const readFrom = readFinals({ store, keyring })
  const shared = createSharedPages<Unavailable, FinalsPage>(timers)

  /**
   * True for an open session and for about a minute after its end, which is its newest event (`newestAt`: its time on
   * the clock of the store). Later even retained text is not sent to listeners.
   */
  const isReadable = (live: Live, newestAt: number): boolean =>
    isOpen(live) || store.now() - newestAt < READABLE_AFTER_END_MS

  const frameOf = ({ config }: Live['created'], data: SegmentFinalised['data']): StoredFinal => {
    const { kind, segment, start, end, text, language, words, maxChars = config.max_chars } = data
    const term = termOf({ data })
    const frame = { kind, segment, final: true, start, end, text: wrapped(text, maxChars), language, term }
    return words === undefined ? frame : { ...frame, words }
  }

  /** Reads events backwards. With a damaged event it reads the whole stream instead, and skips the damaged events. */
  const readBackwards = async (
    stream: string, limit: number, from?: Revision,
  ): Promise<Either<StoreUnavailable, ReadonlyArray<StoredEvent>>> => {
    const page = await store.read(stream, { direction: 'backwards', limit, ...(from !== undefined && { from }) })
    if (E.isRight(page)) return page
    if (page.left._tag === 'StoreUnavailable') return E.left(page.left)
    const whole = await readUndamaged(store, stream)
    return E.map(({ events }: UndamagedRead) =>
      events.filter(({ revision }) => revision <= (from ?? revision)).toReversed())(whole)
  }

  /**
   * Finds a revision before all requested finals. A binary search works, because segment numbers only rise. The result
   * may be earlier than necessary, but it is never too late.
   */
  const findAfter = async (stream: string, point: AfterPoint): Promise<Either<Unavailable, Start>> => {
    const wanted = createBackwardSearch(point).wanted()
    const newest = await readBackwards(stream, 1)
    if (E.isLeft(newest)) return newest
    let [start, end] = [0, newest.right[0]?.revision ?? 0]
    while (end - start > PROBE_EVENTS) {
      const middle = Math.floor((start + end) / 2)
      const page = await readUndamaged(store, stream, middle, PROBE_EVENTS)
      if (E.isLeft(page)) return page
      const final = page.right.events.find((event) => placeOf(event).kind === 'transcription')
      if (final !== undefined && placeOf(final).segment <= point.segment) start = final.revision
      else end = middle
    }
    return E.right({ start, wanted })
  }

  /** Finds the start of the last segments by searching backwards. */
  const findLast = async (stream: string, point: ResumePoint): Promise<Either<Unavailable, Start>> => {
    const search = createBackwardSearch(point)
    let from: Revision | undefined
    for (;;) {
      const page = await readBackwards(stream, SEARCH_PAGE_EVENTS, from)
      if (E.isLeft(page)) return page
      const found = page.right.find((event) => search.found(placeOf(event)))
      const oldest = page.right.at(-1)
      if (found !== undefined) return E.right({ start: found.revision, wanted: search.wanted() })
      const isBeginning = oldest === undefined || oldest.revision === 0 || page.right.length < SEARCH_PAGE_EVENTS
      if (isBeginning) return E.right({ start: oldest?.revision ?? 0, wanted: search.wanted() })
      from = oldest.revision - 1
    }
  }

  const readPage = async ({ created }: Live, page: number): Promise<Either<Unavailable, FinalsPage>> => {
    const [begin, end] = [page * PAGE_EVENTS, (page + 1) * PAGE_EVENTS]
    const read = await readFrom(created.liveId, begin, PAGE_EVENTS)
    if (E.isLeft(read)) return read
    // A damaged event costs its own final only.
    const finals = read.right.finals.flatMap(({ revision, data }) =>
      revision < end && data !== null && data.text !== ERASED ? [frameOf(created, data)] : [])
    return E.right({ finals, isFull: (read.right.last ?? 0) >= end - 1 })
  }

  /** Returns the same frame objects to all listeners, so each frame is serialised once. */
  const pageOf = (live: Live, page: number): Promise<Either<Unavailable, FinalsPage>> =>
    shared(`${live.created.liveId} ${page}`, () => readPage(live, page))

  return async (liveId, point) => {
    const loaded = await loadLive(deps, liveId)
    if (E.isLeft(loaded)) return loaded
    const { state, recent } = loaded.right
    const newestAt = recent.at(-1)?.stored.storedAt ?? 0
    if (!exists(state) || !isReadable(state, newestAt))
      return E.right({ wanted: () => false, next: async () => E.right(null) })
    const stream = segmentsStream(liveId)
    const found = await (point.kind === 'after' ? findAfter(stream, point) : findLast(stream, point))
    if (E.isLeft(found)) return found
    const { wanted } = found.right
    let page = Math.floor(found.right.start / PAGE_EVENTS)
    let isAtEnd = false

    const next = async (): Promise<Either<Unavailable, ReadonlyArray<StoredFinal> | null>> => {
      if (isAtEnd) {
        isAtEnd = false
        return E.right(null)
      }
      const read = await pageOf(state, page)
      if (E.isLeft(read)) return read
      if (read.right.isFull) page += 1
      else isAtEnd = true
      return E.right(read.right.finals.filter(wanted))
    }
    return E.right({ wanted, next })
  }
}
