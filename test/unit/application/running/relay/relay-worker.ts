import * as E from 'fp-ts/lib/Either.js'
import type { TranscriptFrame } from '../../../../../domain/transcript/frame.ts'
import type { LiveEnd } from '../../../../../application/lives/policies/detect-ends.ts'
import { finalKey } from '../../../../../application/lives/queries/resume-point.ts'
import { ownTerm } from '../../../../../application/lives/ownership/own-sessions.ts'
import { createLiveBus } from '../../../../../application/pipeline/live-bus.ts'
import {
  createRecentFinals, type AddedFinal, type LiveFinals,
} from '../../../../../application/running/recent-finals.ts'
import type { LinkSenders } from '../../../../../application/running/relay/link-senders.ts'
import { serveLinks, type ServeLinksDeps } from '../../../../../application/running/relay/serve-links.ts'
import { UNAVAILABLE, LIVE, turn, type RelayLog } from './relay-log.ts'

/** A final that is not sent yet or not stored yet. */
interface PendingFinal {
  readonly frame: TranscriptFrame
  readonly added: AddedFinal
}

interface Run {
  readonly term: number
  readonly finals: LiveFinals
  next: number
  unsent: PendingFinal | null
  unstored: Array<PendingFinal>
}

const NO_SENDERS: LinkSenders = { open: () => ({ message: () => undefined, closed: () => undefined }) }

/** Creates a process that runs the session while its view of admission assigns the session to it. */
export const createRelayWorker = (world: RelayLog, name: string, senders: LinkSenders = NO_SENDERS) => {
  const { timers, logger, network, log, produced, store, speech, members } = world
  const self = { name, incarnation: `run of ${name}` }
  const view = world.viewOf()
  const bus = createLiveBus({ logger })
  const recent = createRecentFinals(timers)
  let run: Run | null = null
  const worker = { ...self }

  const frameOf = (segment: number, term: number): TranscriptFrame => {
    const text = speech.hasSameText ? String(segment) : `${segment} in term ${term}`
    return { kind: 'transcription', segment, final: true, start: segment, end: segment + 1, text, language: 'en' }
  }

  const drop = (): void => {
    if (run === null) return
    run = null
    recent.forget(LIVE)
    bus.publish(LIVE, { kind: 'moved' })
  }

  const append = ({ frame, added }: PendingFinal, term: number): 'stored' | 'unavailable' | 'superseded' => {
    if (store.isUnavailable) return 'unavailable'
    if (store.fence > term) return 'superseded'
    log.push({ ...frame, term })
    added.stored()
    return 'stored'
  }

  const fence = async (term: number): ReturnType<ServeLinksDeps['takeOver']> => {
    if (store.isUnavailable) return UNAVAILABLE
    await turn()
    if (store.fence > term) return E.left({ _tag: 'Superseded' } as const)
    store.fence = term
    return E.right({ state: { status: 'active' } as const })
  }

  const served = serveLinks({
    admission: view, worker, bus, recent, senders, logger,
    runs: { termOf: () => run?.term ?? null, audioSeconds: () => 1 },
    takeOver: (_, term) => fence(term),
    endByWorker: () => null,
  })
  const { peer } = network.serve(self, served)
  members.push({
    ...self,
    state: 'up',
    address: peer.address,
    offers: null,
    logAnswers: true,
    lives: [],
    jobs: null,
    roles: ['worker'],
    version: '1',
    speaks: { log: 1, relay: 1 },
  })

  const sendPending = (): void => {
    const unsent = run?.unsent ?? null
    if (run === null || unsent === null) return
    const { frame, added } = unsent
    run.unsent = null
    added.sent()
    bus.publish(LIVE, frame)
  }

  /** Stores the finals that waited for the store, in order. */
  const storePending = (): void => {
    if (run === null) return
    const waiting = [...run.unstored]
    for (const pending of waiting) {
      const outcome = append(pending, run.term)
      if (outcome === 'unavailable') return
      if (outcome === 'superseded') return drop()
      run.unstored.shift()
    }
  }

  return {
    name,
    self,
    served,
    runTerm: () => run?.term ?? null,
    /** Reads admission, then starts or stops the session to match it. */
    settle: async (): Promise<void> => {
      view.look()
      const term = ownTerm({ admission: view, worker }, LIVE)
      if (run !== null && run.term !== term) drop()
      served.placementChanged()
      if (term === null || run !== null) return
      const taken = await fence(term)
      if (E.isLeft(taken) || run !== null || ownTerm({ admission: view, worker }, LIVE) !== term) return
      const next = Math.max(0, ...log.map(({ segment }) => segment)) + 1
      recent.forget(LIVE)
      run = { term, finals: recent.open(LIVE, next === 1), next, unsent: null, unstored: [] }
    },
    /**
     * Produces a final: a new segment, or a translation of the segment `translatesBack` before.
     * The final is sent immediately, or with the next final when `isDelayed`.
     */
    speak: (isDelayed: boolean, translatesBack: number): void => {
      sendPending()
      storePending()
      if (run === null) return
      bus.publish(LIVE, { ...frameOf(run.next, run.term), final: false })
      const translated = {
        ...frameOf(run.next - translatesBack, run.term),
        kind: 'translation',
        language: 'es',
      } as const
      const isNew = !log.some((final) => finalKey(final) === finalKey(translated))
      const isTranslation = translatesBack > 0 && translated.segment > 0 && isNew && run.unstored.length === 0
      const frame = isTranslation ? translated : frameOf(run.next, run.term)
      if (!isTranslation) run.next += 1
      produced.push(frame)
      const final = { frame, added: run.finals.add(frame) }
      const outcome = run.unstored.length > 0 ? 'unavailable' : append(final, run.term)
      if (outcome === 'superseded') return drop()
      if (outcome === 'unavailable') run.unstored.push(final)
      run.unsent = final
      // A final that waits for the store is sent without the answer of the store.
      if (!isDelayed || outcome === 'unavailable') sendPending()
    },
    flush: (): void => {
      sendPending()
      storePending()
    },
    end: (cause: LiveEnd['cause']): void => {
      sendPending()
      run = null
      recent.ended(LIVE, false)
      bus.publish(LIVE, { kind: 'ended', cause })
    },
  }
}

export type RelayWorker = ReturnType<typeof createRelayWorker>
