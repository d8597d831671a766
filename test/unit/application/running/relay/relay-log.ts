import * as E from 'fp-ts/lib/Either.js'
import type { TranscriptFrame } from '../../../../../domain/transcript/frame.ts'
import { createBackwardSearch } from '../../../../../application/lives/queries/resume-point.ts'
import type { StoredFinal, StoredFinals } from '../../../../../application/lives/queries/stored-finals.ts'
import type { Member } from '../../../../../application/ports/members.ts'
import { initialState, type AdmissionState, type Reservation } from '../../../../../domain/admission/state.ts'
import { createManualTimers } from '../../../../support/doubles/manual-timers.ts'
import { createMemoryLinks } from '../../../../support/doubles/memory/links.ts'
import { createRecordingLogger } from '../../../../support/doubles/loggers.ts'

export const LIVE = 1
const PAGE = 3
export const UNAVAILABLE = E.left({ _tag: 'StoreUnavailable', reason: 'the log does not answer' } as const)

export const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Turns of the event loop that a message between two processes needs at most. */
const TURNS = 12

/** One session, its log, admission and the network. Workers run the session in turn; other processes hold sockets. */
export const createRelayLog = (random: () => number) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const network = createMemoryLinks({ timers })
  const environment = { random, monotonic: timers.monotonic }
  const log: Array<StoredFinal> = []
  /** All finals that workers produced, stored or not. */
  const produced: Array<TranscriptFrame> = []
  const store = { isUnavailable: false, fence: 1 }
  /** `hasSameText`: the next worker transcribes repeated audio to the same text as the previous worker. */
  const speech = { hasSameText: false }
  let admission: AdmissionState = initialState
  const members: Array<Member> = []

  const storedFinals: StoredFinals = async (_, point) => {
    if (store.isUnavailable) return UNAVAILABLE
    const search = createBackwardSearch(point)
    log.toReversed().some(search.found)
    const wanted = search.wanted()
    let [page, isAtEnd] = [0, false]
    return E.right({
      wanted,
      next: async () => {
        if (store.isUnavailable) return UNAVAILABLE
        if (isAtEnd) {
          isAtEnd = false
          return E.right(null)
        }
        const read = log.slice(page * PAGE, (page + 1) * PAGE)
        await turn()
        if (read.length === PAGE) page += 1
        else isAtEnd = true
        return E.right(read.filter(wanted))
      },
    })
  }

  /** The view of one process: the admission state that it has read so far. */
  const viewOf = () => {
    let seen = admission
    return {
      state: () => seen,
      refresh: async () => {
        if (store.isUnavailable) return UNAVAILABLE
        seen = admission
        return E.right(seen)
      },
      look: () => { seen = admission },
    }
  }

  return {
    timers,
    logger,
    network,
    log,
    produced,
    store,
    speech,
    members,
    environment,
    storedFinals,
    viewOf,
    /** Adds the workers in the given order. */
    join: (
      ...workers: ReadonlyArray<{ readonly self: { readonly name: string; readonly incarnation: string } }>
    ): void => {
      const joined = workers.map(({ self }) => ({
        worker: self.name,
        incarnation: self.incarnation,
        vram: 10,
        isDraining: false,
      }))
      admission = { ...admission, workers: joined }
    },
    /** Assigns the session to this worker, or to no worker. */
    place: (worker: string | null): void => {
      const term = (admission.open[0]?.term ?? 0) + 1
      const held: Reservation = {
        liveId: LIVE,
        worker,
        term,
        userId: 1,
        vram: 1,
        at: '2026-01-01T00:00:00.000000+00:00',
        needs: [],
        instance: 'i',
      }
      admission = { ...admission, open: [held] }
    },
    placedOn: () => admission.open[0]?.worker ?? null,
    release: (): void => {
      admission = { ...admission, open: [] }
    },
    turns: async (count = TURNS): Promise<void> => {
      for (let n = 0; n < count; n += 1) await turn()
    },
    pass: async (ms: number): Promise<void> => {
      for (let remaining = ms; remaining > 0; remaining -= 100) {
        timers.advance(Math.min(100, remaining))
        for (let n = 0; n < TURNS; n += 1) await turn()
      }
    },
  }
}

export type RelayLog = ReturnType<typeof createRelayLog>
