import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { EndCause } from '../../../../domain/live/events.ts'
import type { AttachedLive } from '../../../../application/lives/attached-live.ts'
import type { LiveEnd } from '../../../../application/lives/policies/detect-ends.ts'
import type { IsWanted, ResumePoint } from '../../../../application/lives/queries/resume-point.ts'
import type { SourcePoint } from '../../../../application/lives/source-point.ts'
import type { Position, StoreUnavailable } from '../../../../application/ports/event-store.ts'
import type { LiveStatus } from '../../../../application/ports/read-models.ts'
import type { LiveLifecycle } from '../../../../application/running/live-lifecycle.ts'
import type { EngineSettings } from '../../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../../domain/live/vocabulary.ts'
import type { SegmentFinalised } from '../../../../domain/transcript/events.ts'

type Segment = SegmentFinalised['data']

export interface MemoryLive {
  readonly id: number
  readonly senderToken: string
  readonly listenerToken: string
  status: LiveStatus
  cause: EndCause | undefined
  attached: boolean
  /** Number of senders that have attached so far. */
  epoch: number
  /** The point where its source continues. */
  point: SourcePoint
  readonly segments: Array<Segment>
  readonly vocabularies: GivenVocabulary[]
  /** Names of the writes, in the order in which they took effect. */
  readonly writes: string[]
  readonly facts: Pick<AttachedLive, 'audioFormat' | 'audioUrl' | 'autoStart' | 'translations' | 'language' | 'config'>
}

type MemoryEnd = Pick<LiveEnd, 'liveId' | 'cause'>

export interface MemoryLifecycle extends LiveLifecycle {
  /** Creates a session. */
  readonly add: (
    facts?: Partial<AttachedLive>,
    tokens?: Partial<Pick<MemoryLive, 'senderToken' | 'listenerToken'>>,
  ) => MemoryLive
  /** Every call fails while this is true. */
  readonly setUnavailable: (unavailable: boolean) => void
  /** The session as a worker finds it when it takes the session over. */
  readonly attached: (liveId: number) => AttachedLive
  readonly pointOf: (liveId: number) => SourcePoint
  /** Selects the segments that can never be written. By default all segments can be written. */
  readonly refuseSegments: (isRefused: (segment: Segment) => boolean) => void
  /** Ends the session as another process does. */
  readonly endElsewhere: (liveId: number, cause: EndCause) => void
  /** False: `ends` no longer delivers terminal events. */
  readonly setDeliversEnds: (deliversEnds: boolean) => void
  readonly ends: (signal: AbortSignal) => AsyncIterable<MemoryEnd>
}

/** The position of every end. */
export const END_POSITION = '1' as Position

/** Small, so a few segments already make several pages. */
const SEGMENTS_PER_PAGE = 3

const UNAVAILABLE: StoreUnavailable = { _tag: 'StoreUnavailable', reason: 'unavailable' }
const OVER = { _tag: 'LiveOver' } as const

const SETTINGS: EngineSettings = {
  vad: true, mode: 'partial', min_buffer: 1, max_buffer: 10, buffer_timeout: 1, max_delay: 5, max_chars: 80,
  max_lines: 2, punctuation: true,
}

const isOver = ({ status }: MemoryLive): boolean => status === 'finished' || status === 'error'

const attachedTo = (live: MemoryLive): AttachedLive => ({
  term: 1, userId: 1, status: live.status, model: 'demo-en',
  vocabulary: live.vocabularies.at(-1) ?? {}, ...live.facts,
})

/** Selects the stored finals that belong to `point`. */
const wantedFrom = (segments: ReadonlyArray<Segment>, point: ResumePoint): IsWanted => {
  if (point.kind === 'after')
    return ({ kind, segment }) => segment > point.segment || (segment === point.segment && kind === 'translation')
  const numbers = segments.filter(({ kind }) => kind === 'transcription').map(({ segment }) => segment)
  const first = numbers.at(-point.count) ?? 1
  return ({ segment }) => segment >= first
}

/** The write side of live sessions in memory. A test can make it unavailable. */
export const createMemoryLifecycle = (): MemoryLifecycle => {
  const lives = new Map<number, MemoryLive>()
  const delivered: MemoryEnd[] = []
  let wake: () => void = () => undefined
  let isUnavailable = false
  let deliversEnds = true
  let isRefused: (segment: Segment) => boolean = () => false

  const find = (liveId: number): MemoryLive => {
    const live = lives.get(liveId)
    if (live === undefined) throw new Error(`unknown session ${liveId}`)
    return live
  }
  /** Runs `write` unless the store is unavailable or the session has ended. */
  const change = async <A>(
    liveId: number, write: (live: MemoryLive) => A,
  ): Promise<Either<StoreUnavailable | typeof OVER, A>> => {
    if (isUnavailable) return E.left(UNAVAILABLE)
    const live = find(liveId)
    return isOver(live) ? E.left(OVER) : E.right(write(live))
  }
  /** Returns whether the session was open. */
  const endNow = (liveId: number, cause: EndCause): boolean => {
    const live = find(liveId)
    if (isOver(live)) return false
    live.status = cause.status
    live.cause = cause
    live.writes.push('end')
    if (deliversEnds) delivered.push({ liveId, cause })
    wake()
    return true
  }

  return {
    add: (facts = {}, tokens = {}) => {
      const id = lives.size + 1
      const live: MemoryLive = {
        id,
        senderToken: `sender-${id}`,
        listenerToken: `listener-${id}`,
        ...tokens,
        status: 'pending',
        cause: undefined,
        attached: false,
        point: { sampleOffset: 0, nextSegment: 1, mediaSequence: null },
        epoch: 0,
        segments: [],
        vocabularies: [],
        writes: [],
        facts: {
          audioFormat: facts.audioFormat ?? 'raw',
          audioUrl: facts.audioUrl ?? null,
          autoStart: facts.autoStart ?? false,
          translations: facts.translations ?? [],
          language: facts.language ?? 'en',
          config: facts.config ?? SETTINGS,
        },
      }
      lives.set(id, live)
      return live
    },
    setUnavailable: (unavailable) => {
      isUnavailable = unavailable
    },
    attached: (liveId) => attachedTo(find(liveId)),
    pointOf: (liveId) => find(liveId).point,
    refuseSegments: (predicate) => {
      isRefused = predicate
    },
    setDeliversEnds: (delivers) => {
      deliversEnds = delivers
    },
    endElsewhere: (liveId, cause) => void endNow(liveId, cause),
    ends: async function* (signal) {
      let next = 0
      signal.addEventListener('abort', () => wake())
      while (!signal.aborted) {
        const end = delivered[next]
        if (end !== undefined) {
          next += 1
          yield end
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
    },
    resolveToken: async (token, liveId) => {
      if (isUnavailable) return E.left({ _tag: 'DocumentsUnavailable', reason: 'unavailable' })
      const live = [...lives.values()].find((each) => each.senderToken === token || each.listenerToken === token)
      if (live === undefined || (liveId !== null && live.id !== liveId)) return E.right(O.none)
      const role = live.senderToken === token ? 'sender' : 'listener'
      return E.right(O.some({ liveId: live.id, role, status: live.status }))
    },
    admitSender: (liveId) =>
      change(liveId, (live) => ({
        live: attachedTo(live),
        point: live.point,
        recordAfterMs: 10_000,
        record: () => change(liveId, () => {
          live.attached = true
          live.epoch += 1
          return live.epoch
        }),
      })),
    startSource: (liveId, { pid, sampleOffset, mediaSequence }) => () =>
      change(liveId, (live) => {
        if (pid !== null) live.status = 'active'
        live.writes.push(`source ${pid} at ${sampleOffset} after ${mediaSequence}`)
      }),
    changeVocabulary: (liveId, { vocabulary }) => () =>
      change(liveId, (live) => {
        live.vocabularies.push(vocabulary)
        live.writes.push('vocabulary')
      }),
    detachSender: (liveId, { epoch }) => async () => {
      if (isUnavailable) return E.left(UNAVAILABLE)
      const live = find(liveId)
      if (live.epoch === epoch) live.attached = false
      live.writes.push('detach')
      return E.right(undefined)
    },
    startLive: (liveId) =>
      change(liveId, (live) => {
        live.status = 'active'
        live.writes.push('start')
      }),
    endLive: (liveId, { cause }) => async () => {
      if (isUnavailable) return E.left(UNAVAILABLE)
      return E.right(endNow(liveId, cause) ? END_POSITION : null)
    },
    recordSegment: async (segment) => {
      if (isUnavailable) return E.left(UNAVAILABLE)
      if (isRefused(segment)) return E.left({ _tag: 'LogCorrupted', reason: 'this row is damaged' })
      const live = find(segment.liveId)
      live.segments.push(segment)
      const language = segment.kind === 'transcription' ? '' : ` in ${segment.language}`
      live.writes.push(`segment ${segment.segment}${language}`)
      return E.right(undefined)
    },
    storedFinals: async (liveId, point) => {
      if (isUnavailable) return E.left(UNAVAILABLE)
      const { segments } = find(liveId)
      const wanted = wantedFrom(segments, point)
      let from = 0
      return E.right({
        wanted,
        next: async () => {
          if (isUnavailable) return E.left(UNAVAILABLE)
          const page = segments.slice(from, from + SEGMENTS_PER_PAGE)
          from += page.length
          const finals = page.filter(wanted).map((segment) => ({ ...segment, final: true, term: segment.term ?? 1 }))
          return E.right(page.length === 0 ? null : finals)
        },
      })
    },
  }
}
