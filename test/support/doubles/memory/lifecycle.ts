import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { createBackwardSearch } from '../../../../application/lives/queries/resume-point.ts'
import type { StoreUnavailable } from '../../../../application/ports/event-store.ts'
import type { LiveStatus } from '../../../../application/ports/read-models.ts'
import type { EndCause } from '../../../../application/pipeline/signals.ts'
import type { AttachedLive } from '../../../../application/lives/attached-live.ts'
import type { SourcePoint } from '../../../../application/lives/source-point.ts'
import type { LiveLifecycle } from '../../../../application/sessions/live-lifecycle.ts'
import type { LiveEnd } from '../../../../application/lives/policies/watch-ends.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../domain/live/settings.ts'
import { NO_VOCABULARY } from '../../../../domain/live/vocabulary.ts'
import type { GivenVocabulary } from '../../../../domain/live/vocabulary.ts'
import type { SegmentFinalised } from '../../../../domain/transcript/events.ts'

export interface MemoryLive {
  readonly id: number
  readonly senderToken: string
  readonly listenerToken: string
  status: LiveStatus
  cause: EndCause | undefined
  attached: boolean
  epoch: number
  /** Where its source goes on. */
  point: SourcePoint
  readonly segments: Array<SegmentFinalised['data']>
  readonly vocabularies: GivenVocabulary[]
  /** Names of the writes, in the order in which they took effect. */
  readonly writes: string[]
  readonly facts: Pick<AttachedLive, 'audioFormat' | 'audioUrl' | 'autoStart' | 'translations' | 'language' | 'config'>
}

type MemoryEnd = Pick<LiveEnd, 'liveId' | 'cause'>

export interface MemoryLifecycle extends LiveLifecycle {
  readonly add: (facts?: Partial<AttachedLive>, tokens?: Partial<Pick<MemoryLive, 'senderToken' | 'listenerToken'>>) => MemoryLive
  /** Every call fails while this is true. */
  readonly setAway: (away: boolean) => void
  /** The live as whoever takes it over finds it. */
  readonly attached: (liveId: number) => AttachedLive
  readonly pointOf: (liveId: number) => SourcePoint
  /** Segments that can never be written; none unless told. */
  readonly refuse: (isRefused: (segment: SegmentFinalised['data']) => boolean) => void
  /** The terminal event of another process. */
  readonly endElsewhere: (liveId: number, cause: EndCause) => void
  /** False: terminal events are no longer delivered. */
  readonly setDelivering: (delivering: boolean) => void
  readonly ends: (signal: AbortSignal) => AsyncIterable<MemoryEnd>
}

/** Small, so that a few segments make several. */
const PAGE = 3

const AWAY: StoreUnavailable = { _tag: 'StoreUnavailable', reason: 'away' }

/** The write side in memory, with a switch that takes the store away. */
export const createMemoryLifecycle = (): MemoryLifecycle => {
  const lives = new Map<number, MemoryLive>()
  const delivered: MemoryEnd[] = []
  let wake: () => void = () => undefined
  let away = false
  let delivering = true
  let refused: (segment: SegmentFinalised['data']) => boolean = () => false

  const isOver = ({ status }: MemoryLive): boolean => status === 'finished' || status === 'error'
  const find = (liveId: number): MemoryLive => {
    const live = lives.get(liveId)
    if (live === undefined) throw new Error(`no live ${liveId}`)
    return live
  }
  const attachedTo = (live: MemoryLive): AttachedLive =>
    ({
      epoch: live.epoch, term: 1, userId: 1, status: live.status, model: 'demo-en',
      vocabulary: live.vocabularies.at(-1) ?? NO_VOCABULARY, ...live.facts,
    })
  const endNow = (liveId: number, cause: EndCause): void => {
    const live = find(liveId)
    if (isOver(live)) return
    live.status = cause.status
    live.cause = cause
    live.writes.push('end')
    if (delivering) delivered.push({ liveId, cause })
    wake()
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
          config: facts.config ?? DEFAULT_ENGINE_SETTINGS,
        },
      }
      lives.set(id, live)
      return live
    },
    setAway: (now) => {
      away = now
    },
    attached: (liveId) => attachedTo(find(liveId)),
    pointOf: (liveId) => find(liveId).point,
    refuse: (isRefused) => {
      refused = isRefused
    },
    setDelivering: (now) => {
      delivering = now
    },
    endElsewhere: endNow,
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
    resolveToken: (token, liveId) => async () => {
      if (away) return E.left({ _tag: 'DocumentsUnavailable', reason: 'away' })
      const live = [...lives.values()].find(({ senderToken, listenerToken }) => senderToken === token || listenerToken === token)
      if (live === undefined || (liveId !== null && live.id !== liveId)) return E.right(O.none)
      return E.right(O.some({ liveId: live.id, role: live.senderToken === token ? 'sender' : 'listener', status: live.status }))
    },
    attachSender: (liveId) => async () => {
      if (away) return E.left(AWAY)
      const live = find(liveId)
      if (isOver(live)) return E.left({ _tag: 'LiveOver' })
      live.attached = true
      live.epoch += 1
      return E.right({ live: attachedTo(live), point: live.point })
    },
    startSource: (liveId, { pid, sampleOffset, mediaSequence }) => async () => {
      if (away) return E.left(AWAY)
      const live = find(liveId)
      if (isOver(live)) return E.left({ _tag: 'LiveOver' })
      if (pid !== null) live.status = 'active'
      live.writes.push(`source ${pid} at ${sampleOffset} after ${mediaSequence}`)
      return E.right(undefined)
    },
    changeVocabulary: (liveId, { vocabulary }) => async () => {
      if (away) return E.left(AWAY)
      const live = find(liveId)
      if (isOver(live)) return E.left({ _tag: 'LiveOver' })
      live.vocabularies.push(vocabulary)
      live.writes.push('vocabulary')
      return E.right(undefined)
    },
    detachSender: (liveId, { epoch }) => async () => {
      if (away) return E.left(AWAY)
      const live = find(liveId)
      if (live.epoch === epoch) live.attached = false
      live.writes.push('detach')
      return E.right(undefined)
    },
    startLive: (liveId) => async () => {
      if (away) return E.left(AWAY)
      const live = find(liveId)
      if (isOver(live)) return E.left({ _tag: 'LiveOver' })
      live.status = 'active'
      live.writes.push('start')
      return E.right(undefined)
    },
    endLive: (liveId, { cause }) => async () => {
      if (away) return E.left(AWAY)
      endNow(liveId, cause)
      return E.right(null)
    },
    recordSegment: (segment) => async () => {
      if (away) return E.left(AWAY)
      if (refused(segment)) return E.left({ _tag: 'LogCorrupted', reason: 'this row is damaged' })
      const live = find(segment.liveId)
      live.segments.push(segment)
      live.writes.push(segment.kind === 'transcription' ? `segment ${segment.segment}` : `segment ${segment.segment} in ${segment.language}`)
      return E.right(undefined)
    },
    storedFinals: (liveId, point) => async () => {
      if (away) return E.left(AWAY)
      const { segments } = find(liveId)
      const search = createBackwardSearch(point)
      segments.toReversed().some(search.found)
      const wanted = search.wanted()
      let from = 0
      return E.right({
        wanted,
        next: async () => {
          if (away) return E.left(AWAY)
          const page = segments.slice(from, from + PAGE)
          from += page.length
          return E.right(page.length === 0 ? null : page.filter(wanted).map((segment) => ({ ...segment, final: true, term: segment.term ?? 1 })))
        },
      })
    },
  }
}
