import * as E from 'fp-ts/lib/Either.js'
import type { LiveEnd } from '../../application/lives/policies/watch-ends.ts'
import { keyOf, searchBackwards } from '../../application/lives/queries/resume-point.ts'
import type { ResumePoint } from '../../application/lives/queries/resume-point.ts'
import type { StoredFinals } from '../../application/lives/queries/stored-finals.ts'
import { ownTerm } from '../../application/lives/terms/worker.ts'
import { createLiveBus } from '../../application/pipeline/live-bus.ts'
import type { TranscriptFrame } from '../../application/pipeline/signals.ts'
import type { Member } from '../../application/ports/members.ts'
import { createRecentFinals } from '../../application/sessions/recent-finals.ts'
import type { AddedFinal, LiveFinals } from '../../application/sessions/recent-finals.ts'
import type { LinkSenders } from '../../application/sessions/relay/link-senders.ts'
import { NO_SENDERS } from '../../application/sessions/relay/link-senders.ts'
import { withOwnWorker } from '../../application/sessions/relay/own-links.ts'
import { createRemoteLives } from '../../application/sessions/relay/remote-lives.ts'
import { routedSessions } from '../../application/sessions/relay/routed-lives.ts'
import { serveLinks } from '../../application/sessions/relay/serve-links.ts'
import type { ServeLinksDeps } from '../../application/sessions/relay/serve-links.ts'
import { whereabouts } from '../../application/sessions/relay/whereabouts.ts'
import { initialState } from '../../domain/admission/state.ts'
import type { AdmissionState, Reservation } from '../../domain/admission/state.ts'
import type { Connection } from '../../interfaces/ws/connection.ts'
import { catchUp } from '../../interfaces/ws/listeners/catch-up.ts'
import { createHub } from '../../interfaces/ws/listeners/hub.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { createMemoryLinks } from '../support/memory-links.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'

export const LIVE = 1
const PAGE = 3
const AWAY = E.left({ _tag: 'StoreUnavailable', reason: 'away' } as const)

/** A final that is not told yet, or not stored yet. */
interface Said {
  readonly frame: TranscriptFrame
  readonly added: AddedFinal
}

interface Run {
  readonly term: number
  readonly finals: LiveFinals
  next: number
  untold: Said | null
  unstored: Array<Said>
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** What passes in between takes several turns of the loop. */
const TURNS = 12

/** A live that workers run one after another, as admission says, and processes with sockets around one log. */
export const createRelayWorld = (random: () => number) => {
  const timers = createManualTimers()
  const logger = createRecordingLogger()
  const network = createMemoryLinks({ timers })
  const environment = { random, monotonic: timers.monotonic }
  const log: Array<TranscriptFrame> = []
  const store = { isAway: false, fence: 1 }
  let admission: AdmissionState = initialState
  const members: Array<Member> = []

  const storedFinals: StoredFinals = (_, point) => async () => {
    if (store.isAway) return AWAY
    const search = searchBackwards(point)
    log.toReversed().some(search.found)
    const wanted = search.wanted()
    let [page, isAtEnd] = [0, false]
    return E.right({
      wanted,
      next: async () => {
        if (store.isAway) return AWAY
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

  /** A process knows of admissions what it has read. */
  const viewOf = () => {
    let seen = admission
    return {
      state: () => seen,
      refresh: async () => {
        if (store.isAway) return AWAY
        seen = admission
        return E.right(seen)
      },
      look: () => { seen = admission },
    }
  }

  const createWorker = (name: string, senders: LinkSenders = NO_SENDERS) => {
    const self = { name, incarnation: `run of ${name}` }
    const view = viewOf()
    const bus = createLiveBus({ logger })
    const recent = createRecentFinals(timers)
    let run: Run | null = null
    const worker = { ...self }

    const drop = (): void => {
      if (run === null) return
      run = null
      recent.forget(LIVE)
      bus.publish(LIVE, { kind: 'moved' })
    }

    const append = ({ frame, added }: Said, term: number): 'stored' | 'away' | 'superseded' => {
      if (store.isAway) return 'away'
      if (store.fence > term) return 'superseded'
      log.push(frame)
      added.stored()
      return 'stored'
    }

    const fence = (term: number): ReturnType<ServeLinksDeps['takeOver']> => async () => {
      if (store.isAway) return AWAY
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
      ...self, state: 'up', address: peer.address, offers: null, logAnswers: true, lives: [], roles: ['worker'],
      version: '1', speaks: { log: 1, relay: 1 },
    })

    const tell = (): void => {
      if (run?.untold == null) return
      const { frame, added } = run.untold
      run.untold = null
      added.told()
      bus.publish(LIVE, frame)
    }

    /** What waited for the store is stored, in order. */
    const catchUpWithStore = (): void => {
      for (let [said] = run?.unstored ?? []; run !== null && said !== undefined; [said] = run?.unstored ?? []) {
        const outcome = append(said, run.term)
        if (outcome === 'away') return
        if (outcome === 'superseded') return drop()
        run.unstored.shift()
      }
    }

    return {
      name,
      self,
      served,
      runTerm: () => run?.term ?? null,
      /** Hears what admission says, and brings what runs here in line with it. */
      settle: async (): Promise<void> => {
        view.look()
        const term = ownTerm({ admission: view, worker }, LIVE)
        if (run !== null && run.term !== term) drop()
        served.placedAnew()
        if (term === null || run !== null) return
        const taken = await fence(term)()
        if (E.isLeft(taken) || run !== null || ownTerm({ admission: view, worker }, LIVE) !== term) return
        const next = Math.max(0, ...log.map(({ segment }) => segment)) + 1
        recent.forget(LIVE)
        run = { term, finals: recent.open(LIVE, next === 1), next, untold: null, unstored: [] }
      },
      /** One more final: a segment, or a translation of an earlier one; told at once, or with the next. */
      speak: (isToldLater: boolean, translatesBack: number): void => {
        tell()
        catchUpWithStore()
        if (run === null) return
        bus.publish(LIVE, { ...frameOf(run.next, run.term), final: false })
        const translated = { ...frameOf(run.next - translatesBack, run.term), kind: 'translation', language: 'es' } as const
        const isNew = !log.some((one) => keyOf(one) === keyOf(translated))
        const isTranslation = translatesBack > 0 && translated.segment > 0 && isNew && run.unstored.length === 0
        const frame = isTranslation ? translated : frameOf(run.next, run.term)
        if (!isTranslation) run.next += 1
        const said = { frame, added: run.finals.add(frame) }
        const outcome = run.unstored.length > 0 ? 'away' : append(said, run.term)
        if (outcome === 'superseded') return drop()
        if (outcome === 'away') run.unstored.push(said)
        run.untold = said
        // A final that waits for the store is told for want of an answer.
        if (!isToldLater || outcome === 'away') tell()
      },
      flush: (): void => {
        tell()
        catchUpWithStore()
      },
      end: (cause: LiveEnd['cause']): void => {
        tell()
        run = null
        recent.ended(LIVE, false)
        bus.publish(LIVE, { kind: 'ended', cause })
      },
    }
  }

  const frameOf = (segment: number, term: number): TranscriptFrame =>
    ({ kind: 'transcription', segment, final: true, start: segment, end: segment + 1, text: `${segment} in term ${term}`, language: 'en' })

  /** A process with sockets, which may be a worker as well. */
  const createApi = (name: string, own: ReturnType<typeof createWorker> | null = null) => {
    const self = own?.self ?? { name, incarnation: `run of ${name}` }
    const view = viewOf()
    const where = whereabouts({ admission: view, members: { self, all: () => members } })
    const outside = network.linksOf(name)
    const links = own === null ? outside : withOwnWorker(outside, { incarnation: self.incarnation, handler: own.served })
    const recent = createRecentFinals(timers)
    const bus = createLiveBus({ logger })
    const remote = createRemoteLives({ links, whereabouts: where, environment, timers, logger, storedFinals, recent, bus })
    const sessions = routedSessions({
      remote, storedFinals,
      resolveToken: () => () => Promise.reject(new Error('no tokens here')),
      attachSender: () => () => Promise.reject(new Error('no senders here')),
    })
    const hub = createHub({ bus: remote.bus, strict: false })

    /** As a socket does. */
    const listen = (point: ResumePoint | null) => {
      const heard: Array<TranscriptFrame> = []
      const endings: Array<string> = []
      let [hasJoined, isGone] = [false, false]
      const connection: Connection = {
        send: () => undefined,
        broadcast: ({ text }, taken) => {
          const { type: kind, ...said } = JSON.parse(text) as Omit<TranscriptFrame, 'kind'> & { readonly type: TranscriptFrame['kind'] }
          if (said.final) heard.push({ kind, ...said })
          taken?.()
        },
        end: ({ reason, close }) => void endings.push(reason === '' ? String(close) : reason),
        drop: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
        isPaused: () => false,
        buffered: () => 0,
      }
      const member: Parameters<typeof hub.join>[1] = { role: 'listener', connection }
      const join = (ahead: ReadonlySet<string>): void => {
        if (isGone) return
        if (ahead.size > 0) member.ahead = new Set(ahead)
        hasJoined = true
        if (hub.join(LIVE, member) !== undefined) endings.push('1000')
      }
      const coming = (async () => {
        await sessions.ready?.(LIVE)
        if (point === null) return join(new Set())
        const missed = await sessions.missed(LIVE, point)()
        if (E.isLeft(missed)) return void endings.push('unavailable')
        await catchUp({ missed: missed.right, connection, encode: hub.encode, join, isGone: () => isGone, logger })
      })()
      return {
        api: name, point, heard, endings, coming,
        hasJoined: () => hasJoined,
        leave: () => {
          isGone = true
          hub.leave(LIVE, member)
        },
      }
    }

    return {
      name, remote, links, where, listen,
      /** What `follow-ends.ts` does when the log tells of a move. */
      hearMoves: (): void => {
        view.look()
        remote.placedAnew()
      },
    }
  }

  return {
    timers, logger, network, log, store, members, createWorker, createApi,
    /** The workers join, in the order of their names. */
    join: (...workers: ReadonlyArray<{ readonly self: { readonly name: string; readonly incarnation: string } }>): void => {
      const joined = workers.map(({ self }) => ({ worker: self.name, incarnation: self.incarnation, vram: 10, isDraining: false }))
      admission = { ...admission, workers: joined }
    },
    /** Admission gives the live to this worker, or to none. */
    place: (worker: string | null): void => {
      const term = (admission.open[0]?.term ?? 0) + 1
      const held: Reservation = {
        liveId: LIVE, worker, term, userId: 1, vram: 1, at: '2026-01-01T00:00:00.000000+00:00', needs: [], instance: 'i',
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
      for (let left = ms; left > 0; left -= 100) {
        timers.advance(Math.min(100, left))
        for (let n = 0; n < TURNS; n += 1) await turn()
      }
    },
  }
}

export type RelayWorld = ReturnType<typeof createRelayWorld>
