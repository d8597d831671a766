import * as E from 'fp-ts/lib/Either.js'
import type { EndCause } from '../../../domain/live/events.ts'
import { RECORD_AFTER_MS } from '../../../application/lives/commands/admit-sender.ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { ownTerm } from '../../../application/lives/ownership/own-sessions.ts'
import type { LiveLifecycle } from '../../../application/running/live-lifecycle.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { SegmentFinalised } from '../../../domain/transcript/events.ts'

export const UNAVAILABLE = E.left({ _tag: 'StoreUnavailable', reason: 'simulated' } as const)

/** The state of the log for one session. `isUnavailable`: the store does not answer. */
export interface SimulatedStore {
  isUnavailable: boolean
  /** The log refuses writes of a worker whose term is lower. */
  fence: number
  status: 'pending' | 'active' | 'finished'
  epoch: number
}

interface LifecycleDeps {
  readonly log: Array<SegmentFinalised['data']>
  readonly store: SimulatedStore
  readonly admission: Parameters<typeof ownTerm>[0]['admission']
  readonly onEnd: (cause: EndCause) => void
}

/** Waits one turn of the event loop. */
export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Creates the lifecycle of a worker on the simulated store. Writes of a term below the fence are refused. */
export const createSimulatedLifecycle = ({ log, store, admission, onEnd }: LifecycleDeps) => {
  const resumePoint = () => {
    const last = log.at(-1)
    return {
      sampleOffset: Math.ceil((last?.end ?? 0) * SAMPLE_RATE),
      nextSegment: (last?.segment ?? 0) + 1,
      mediaSequence: null,
    }
  }

  const lifecycleOf = (worker: { readonly name: string; readonly incarnation: string }): LiveLifecycle => {
    const write = async (term: number, act: () => void) => {
      await turn()
      if (store.isUnavailable) return UNAVAILABLE
      if (store.fence > term) return E.left({ _tag: 'Superseded' } as const)
      act()
      return E.right(undefined)
    }
    return {
      resolveToken: () => Promise.reject(new Error('the simulation has no tokens')),
      admitSender: async (liveId) => {
        await turn()
        if (store.isUnavailable) return UNAVAILABLE
        if (store.status === 'finished') return E.left({ _tag: 'LiveOver' } as const)
        const term = ownTerm({ admission, worker }, liveId)
        if (term === null || store.fence > term) return E.left({ _tag: 'Superseded' } as const)
        store.fence = term
        return E.right({
          point: resumePoint(),
          recordAfterMs: RECORD_AFTER_MS,
          record: async () => {
            const written = await write(term, () => { store.epoch += 1 })
            return written._tag === 'Left' ? written : E.right(store.epoch)
          },
          live: {
            term,
            userId: 1,
            status: store.status,
            model: 'scripted',
            language: 'en',
            translations: [],
            audioFormat: 'raw',
            audioUrl: null,
            autoStart: false,
            config: DEFAULT_ENGINE_SETTINGS,
            vocabulary: {},
          },
        })
      },
      detachSender: (_, { term }) => () => write(term, () => undefined),
      startLive: (_, term) => write(term, () => { store.status = 'active' }),
      startSource: () => () => Promise.reject(new Error('the simulation has no sources')),
      changeVocabulary: (_, { term }) => () => write(term, () => undefined),
      recordSegment: (segment) => write(segment.term ?? 1, () => void log.push(segment)),
      storedFinals: async () => {
        let isRead = false
        return E.right({
          wanted: () => true,
          next: async () => {
            if (isRead) return E.right(null)
            isRead = true
            return E.right(log.map((segment) => ({ ...segment, final: true, term: segment.term ?? 1 })))
          },
        })
      },
      endLive: (_, { term, cause }) => async () => {
        await turn()
        if (store.isUnavailable) return UNAVAILABLE
        if (store.fence > term) return E.left({ _tag: 'Superseded' } as const)
        if (store.status !== 'finished') {
          store.status = 'finished'
          onEnd(cause)
        }
        return E.right(null)
      },
    }
  }

  return lifecycleOf
}
