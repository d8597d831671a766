import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { placementOf } from '../../../domain/admission/state.ts'
import type { LiveUnknown } from '../../../domain/live/commands.ts'
import { FIRST_TERM } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../refusals.ts'
import type { EndByWorker } from '../../lives/ending.ts'
import type { TakenLive } from '../../lives/ownership/take-over.ts'
import { ownTerm, type WorkerDeps } from '../../lives/ownership/own-sessions.ts'
import { finalKey } from '../../lives/queries/resume-point.ts'
import type { LiveBus, LiveSignal } from '../../pipeline/signals.ts'
import type { Logger } from '../../ports/environment.ts'
import {
  type FromWorker, type LinkHandler, RELAY_VERSION, type ToWorker, type WorkerLink,
} from '../../ports/live-links.ts'
import type { LiveStatus } from '../../ports/read-models.ts'
import type { LiveRuns } from '../live-runs.ts'
import type { RecentFinals } from '../recent-finals.ts'
import type { LinkSenders } from './link-senders.ts'
import { decodeEndRequest, encodeEnded, encodeFrame, encodeSignal } from './link-codecs.ts'

/** A link with more unread bytes than this is closed. The other process then reconnects and gets the newest finals. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024
/** Maximum number of finals that are sent at the start of a link. */
const MAX_RECENT_FINALS = 500

export interface ServeLinksDeps extends Pick<WorkerDeps, 'worker'> {
  readonly admission: Pick<WorkerDeps['admission'], 'state' | 'refresh'>
  /** Takes over a session in a term. May be repeated. */
  readonly takeOver: (liveId: number, term: number) => Promise<Either<
    LiveUnknown | LiveOver | Superseded | Unavailable,
    { readonly state: Pick<TakenLive['state'], 'status'> }
  >>
  readonly runs: Pick<LiveRuns, 'termOf' | 'audioSeconds'>
  /** The bus of the worker's sessions. It is not the bus of this process's sockets. */
  readonly bus: Pick<LiveBus, 'subscribe'>
  readonly recent: Pick<RecentFinals, 'of'>
  readonly endByWorker: EndByWorker
  readonly senders: LinkSenders
  readonly logger: Logger
}

/** Serves the links of all processes, including this one, to the sessions of this worker. */
export interface ServedLinks extends LinkHandler {
  /** Call this when these sessions (default: all) may have moved or changed their term. Affected links are closed. */
  readonly placementChanged: (liveIds?: Iterable<number>) => void
  readonly size: () => number
}

interface Served {
  readonly liveId: number
  readonly link: WorkerLink
  /** Term in which this worker answered the link. Null before the answer. */
  term: number | null
}

type Hello = Extract<ToWorker, { readonly kind: 'hello' }>

/** The answer to a link whose session runs here. */
interface Found {
  readonly term: number
  readonly status: LiveStatus
}

export const serveLinks = (deps: ServeLinksDeps): ServedLinks => {
  const { admission, runs, bus, recent, logger } = deps
  const all = new Set<Served>()

  const redirect = ({ liveId, link }: Served): void => {
    const placement = placementOf(admission.state(), liveId)
    link.send({ kind: 'elsewhere', worker: placement?.worker ?? null, term: placement?.term ?? null })
    link.close()
  }

  /** Finds the session. Null: it cannot be served yet, so the other process has to reconnect. */
  const find = async (liveId: number, requestedTerm: number): Promise<Found | 'elsewhere' | null> => {
    // The other process may know of a move that this process has not read yet.
    if ((ownTerm(deps, liveId) ?? 0) !== requestedTerm) await admission.refresh()
    const term = ownTerm(deps, liveId)
    if (term === null) return 'elsewhere'
    if (term < requestedTerm) return null
    if (runs.termOf(liveId) === term) {
      const hasBegun = (runs.audioSeconds(liveId) ?? 0) > 0
      return { term, status: hasBegun ? 'active' : 'pending' }
    }
    // A run in a lower term will be dropped, because its finals are outdated.
    if (runs.termOf(liveId) !== null) return null
    if (term === FIRST_TERM) return { term, status: 'pending' }
    // The takeover fences the earlier workers (they can write no more finals), so the log then contains all their
    // finals.
    const taken = await deps.takeOver(liveId, term)
    if (E.isRight(taken)) return { term, status: taken.right.state.status === 'active' ? 'active' : 'pending' }
    return null
  }

  const newest = (liveId: number, term: number): Extract<FromWorker, { readonly kind: 'recent' }> => {
    const finals = recent.of(liveId)
    // A session in its first term that never ran has no finals.
    if (finals === undefined) return { kind: 'recent', finals: [], isWhole: term === FIRST_TERM, dropped: [] }
    const sent = finals.sent()
    const last = sent.slice(-MAX_RECENT_FINALS)
    const isWhole = finals.isWhole() && last.length === sent.length
    return { kind: 'recent', finals: last.map(encodeFrame), isWhole, dropped: finals.dropped().map(finalKey) }
  }

  /** Sends the newest finals, then all signals. No signal is lost in between, because both happen in one tick. */
  const listen = (served: Served, term: number): (() => void) => {
    const { liveId, link } = served
    link.send(newest(liveId, term))
    return bus.subscribe(liveId, (signal: LiveSignal) => {
      if (signal.kind === 'moved') return redirect(served)
      link.send({ kind: 'signal', signal: encodeSignal(signal) })
      if (signal.kind === 'ended') return link.close()
      if (link.buffered() <= MAX_UNREAD_BYTES) return
      logger.warn({ liveId, buffered: link.buffered() }, 'a link that reads too slowly was closed')
      link.close()
    })
  }

  const open = (liveId: number, link: WorkerLink) => {
    let isClosed = false
    let waiting: Array<ToWorker> | null = null
    let stopListening: (() => void) | null = null
    let sender: ReturnType<LinkSenders['open']> | null = null
    const served: Served = { liveId, link, term: null }
    all.add(served)

    const setListening = (listens: boolean): void => {
      if (listens && stopListening === null) {
        stopListening = listen(served, served.term ?? FIRST_TERM)
        // A past end is published during `listen` and closes the link.
        if (isClosed) stopListening()
      } else if (!listens) {
        stopListening?.()
        stopListening = null
      }
    }

    const handle = (message: ToWorker): void => {
      if (message.kind === 'hello') return
      if (message.kind === 'listen') return setListening(message.listens)
      sender?.message(message)
    }

    const answer = async ({ relay, term, listens }: Hello): Promise<void> => {
      waiting = []
      const found = relay === RELAY_VERSION ? await find(liveId, term) : null
      if (isClosed) return
      if (found === 'elsewhere') return redirect(served)
      if (found === null) return link.close()
      served.term = found.term
      link.send({ kind: 'here', ...found })
      sender = deps.senders.open({ liveId, term: found.term, link })
      if (listens) setListening(true)
      const received = waiting
      waiting = null
      received.forEach(handle)
    }

    return {
      message: (message: ToWorker): void => {
        if (isClosed) return
        if (waiting !== null) waiting.push(message)
        else if (served.term !== null) handle(message)
        else if (message.kind === 'hello')
          answer(message).catch((error: unknown) => {
            logger.error({ liveId, error: String(error) }, 'a link could not be answered')
            link.close()
          })
      },
      closed: () => {
        isClosed = true
        all.delete(served)
        stopListening?.()
        sender?.closed()
      },
    }
  }

  return {
    open,
    end: async ({ liveId, end }) => {
      const ended = await deps.endByWorker(liveId, decodeEndRequest(end))
      return ended === null ? null : encodeEnded(ended)
    },
    placementChanged: (liveIds) => {
      const affected = liveIds === undefined ? null : new Set(liveIds)
      for (const served of all) {
        const { liveId, term } = served
        if (term === null || affected?.has(liveId) === false) continue
        const own = ownTerm(deps, liveId)
        if (own === null && placementOf(admission.state(), liveId) !== null) redirect(served)
        else if (own !== null && own !== term) served.link.close()
      }
    },
    size: () => all.size,
  }
}
