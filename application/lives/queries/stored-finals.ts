import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { exists } from '../../../domain/live/decider.ts'
import type { Live } from '../../../domain/live/decider.ts'
import { ERASED } from '../../../domain/shared/event.ts'
import { wrapped } from '../../../domain/transcript/captions.ts'
import { reading } from '../../../domain/read-event.ts'
import { SegmentFinalised, segmentsStream, termOf } from '../../../domain/transcript/events.ts'
import type { Unavailable } from '../../errors.ts'
import { openEvents } from '../../log/event-serialization.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import type { TranscriptFrame } from '../../pipeline/signals.ts'
import type { Revision, StoredEvent } from '../../ports/event-store.ts'
import { isOpen, loadLive } from '../load-live.ts'
import { READABLE_AFTER_END_MS } from '../policies/forget-text.ts'
import { searchBackwards } from './resume-point.ts'
import type { ResumePoint, Wanted } from './resume-point.ts'
import { createSharedPages } from './shared-pages.ts'

/** A final as it was told, and in which term its worker stored it. */
export interface StoredFinal extends TranscriptFrame {
  readonly term: number
}

/** Finals of the log, in its order, so that terms only rise. */
export interface FinalsInPages {
  readonly wanted: Wanted
  /** The next page, which may be empty; null once the end was seen. Who asks again is read the last one anew. */
  readonly next: () => Promise<Either<Unavailable, ReadonlyArray<StoredFinal> | null>>
}

/** What the log holds from `point` on; nothing of a live that ended a minute ago or was deleted. */
export type StoredFinals = (liveId: number, point: ResumePoint) => TaskEither<Unavailable, FinalsInPages>

type StoredFinalsDeps = Pick<WriteDeps, 'store' | 'keyring' | 'environment' | 'timers'>

type AfterPoint = Extract<ResumePoint, { readonly kind: 'after' }>

/** Read and opened in one go, for all who want them; others get their turn in between. */
const AT_ONCE = 200
/** Looked through for the place to begin: most come back after seconds. */
const LOOKED_AT_ONCE = 50

/** Looked at in the middle of what is left, until a final of a speaker is among them. */
const LOOKED_AT_IN_BETWEEN = 20

/** So many finals of one live, from a multiple of that on. */
interface FinalsPage {
  readonly finals: ReadonlyArray<StoredFinal>
  readonly isFull: boolean
}

/** From which revision on there is what is wanted. */
interface Start {
  readonly start: Revision
  readonly wanted: Wanted
}

const finalOf = reading([SegmentFinalised])

/** Of one that cannot be read: of no segment. */
const placeOf = (event: StoredEvent): Pick<TranscriptFrame, 'kind' | 'segment'> =>
  finalOf(event)?.data ?? { kind: 'translation', segment: Number.POSITIVE_INFINITY }

/** Finals from the log, as the frames that they were. */
export const storedFinals = (deps: StoredFinalsDeps): StoredFinals => {
  const { store, keyring, environment, timers } = deps
  const open = openEvents(keyring)
  const shared = createSharedPages<Unavailable, FinalsPage>(timers)

  /** Who comes back later gets nothing more, whether the live keeps its text or not (R88). */
  const isReadable = (live: Live): boolean =>
    isOpen(live) || Date.parse(environment.now()) - Date.parse(String(live.updatedAt)) < READABLE_AFTER_END_MS

  const frameOf = ({ config }: Live['created'], { data }: SegmentFinalised): StoredFinal => {
    const { kind, segment, start, end, text, language, words, maxChars = config.max_chars } = data
    const frame = { kind, segment, final: true, start, end, text: wrapped(text, maxChars), language, term: termOf({ data }) }
    return words === undefined ? frame : { ...frame, words }
  }

  /**
   * Where a final of a speaker stands, behind which all that is wanted comes. Their segments are in order, so each look
   * halves what is left. It may find an earlier place than the last possible, never a later one.
   */
  const findAfter = async (stream: string, point: AfterPoint): Promise<Either<Unavailable, Start>> => {
    const wanted = searchBackwards(point).wanted()
    const newest = await store.read(stream, { direction: 'backwards', limit: 1 })()
    if (E.isLeft(newest)) return newest
    let [start, end] = [0, newest.right[0]?.revision ?? 0]
    while (end - start > LOOKED_AT_IN_BETWEEN) {
      const middle = Math.floor((start + end) / 2)
      const page = await store.read(stream, { from: middle, limit: LOOKED_AT_IN_BETWEEN })()
      if (E.isLeft(page)) return page
      const spoken = page.right.find((event) => placeOf(event).kind === 'transcription')
      if (spoken !== undefined && placeOf(spoken).segment <= point.segment) start = spoken.revision
      else end = middle
    }
    return E.right({ start, wanted })
  }

  /** The revision from which on there are the last segments. */
  const findLast = async (stream: string, point: ResumePoint): Promise<Either<Unavailable, Start>> => {
    const search = searchBackwards(point)
    let from: Revision | undefined
    for (;;) {
      const newest = { direction: 'backwards', limit: LOOKED_AT_ONCE } as const
      const page = await store.read(stream, from === undefined ? newest : { ...newest, from })()
      if (E.isLeft(page)) return page
      const mark = page.right.find((event) => search.found(placeOf(event)))
      const last = page.right.at(-1)
      if (mark !== undefined) return E.right({ start: mark.revision, wanted: search.wanted() })
      const isBeginning = last === undefined || last.revision === 0 || page.right.length < LOOKED_AT_ONCE
      if (isBeginning) return E.right({ start: last?.revision ?? 0, wanted: search.wanted() })
      from = last.revision - 1
    }
  }

  const readPage = async ({ created }: Live, page: number): Promise<Either<Unavailable, FinalsPage>> => {
    const end = (page + 1) * AT_ONCE
    const stored = await store.read(segmentsStream(created.liveId), { from: page * AT_ONCE, limit: AT_ONCE })()
    if (E.isLeft(stored)) return stored
    const inside = stored.right.filter(({ revision }) => revision < end)
    const opened = await open(inside.filter(({ type }) => type === SegmentFinalised.type))()
    if (E.isLeft(opened)) return opened
    // The codec of their type has decoded them.
    const finals = (opened.right as ReadonlyArray<SegmentFinalised>).filter(({ data }) => data.text !== ERASED)
    const isFull = (stored.right.at(-1)?.revision ?? 0) >= end - 1
    return E.right({ finals: finals.map((final) => frameOf(created, final)), isFull })
  }

  /** The same objects for all who want them, so that their bytes are made once. */
  const pageOf = (live: Live, page: number): Promise<Either<Unavailable, FinalsPage>> =>
    shared(`${live.created.liveId} ${page}`, () => readPage(live, page))

  return (liveId, point) => async () => {
    const loaded = await loadLive({ store, keyring }, liveId)()
    if (E.isLeft(loaded)) return loaded
    const { state } = loaded.right
    if (!exists(state) || !isReadable(state)) return E.right({ wanted: () => false, next: async () => E.right(null) })
    const stream = segmentsStream(liveId)
    const found = await (point.kind === 'after' ? findAfter(stream, point) : findLast(stream, point))
    if (E.isLeft(found)) return found
    const { wanted } = found.right
    let page = Math.floor(found.right.start / AT_ONCE)
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
