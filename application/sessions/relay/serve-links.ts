import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { placementOf } from '../../../domain/admission/state.ts'
import { FIRST_TERM } from '../../../domain/live/events.ts'
import type { LiveOver, Superseded, Unavailable } from '../../errors.ts'
import type { EndByWorker } from '../../lives/end-by-worker.ts'
import type { LiveUnknown, TakenLive } from '../../lives/terms/take-over.ts'
import { ownTerm } from '../../lives/terms/worker.ts'
import type { WorkerDeps } from '../../lives/terms/worker.ts'
import { finalKey } from '../../lives/queries/resume-point.ts'
import type { LiveBus, LiveSignal } from '../../pipeline/signals.ts'
import type { Logger } from '../../ports/environment.ts'
import { RELAY_VERSION } from '../../ports/peers/live-links.ts'
import type { FromWorker, LinkHandler, ToWorker, WorkerLink } from '../../ports/peers/live-links.ts'
import type { LiveStatus } from '../../ports/read-models.ts'
import type { LiveRuns } from '../runs/live-runs.ts'
import type { RecentFinals } from '../recent-finals.ts'
import type { LinkSenders } from './link-senders.ts'
import { endRequestFrom, passedEnded, passedFrame, passedSignal } from './passed.ts'

/** Bytes that another process may leave untaken before its link is closed: it comes again, and is told the newest. */
const LONGEST_BACKLOG = 4 * 1024 * 1024
/** Finals that a link begins with. */
const MOST_RECENT = 500

export interface ServeLinksDeps extends Pick<WorkerDeps, 'worker'> {
  readonly admission: Pick<WorkerDeps['admission'], 'state' | 'refresh'>
  /** Makes a live this worker's for a term; repeated without harm. */
  readonly takeOver: (
    liveId: number,
    term: number,
  ) => TaskEither<LiveUnknown | LiveOver | Superseded | Unavailable, { readonly state: Pick<TakenLive['state'], 'status'> }>
  readonly runs: Pick<LiveRuns, 'termOf' | 'audioSeconds'>
  /** On which the lives of this worker tell: never the one that sockets of this process listen to. */
  readonly bus: Pick<LiveBus, 'subscribe'>
  readonly recent: Pick<RecentFinals, 'of'>
  readonly endByWorker: EndByWorker
  readonly senders: LinkSenders
  readonly logger: Logger
}

/** The links that other processes, and the sockets of this one, have to the lives of this worker. */
export interface ServedLinks extends LinkHandler {
  /** These lives, or all, may run elsewhere, or in another term, from now on: who asks for them is told. */
  readonly placedAnew: (liveIds?: Iterable<number>) => void
  readonly size: () => number
}

interface Served {
  readonly liveId: number
  readonly link: WorkerLink
  /** Null until it is answered. */
  term: number | null
}

type Hello = Extract<ToWorker, { readonly kind: 'hello' }>

/** What the link is told of its live, once it was found here. */
interface Found {
  readonly term: number
  readonly status: LiveStatus
}

export const serveLinks = (deps: ServeLinksDeps): ServedLinks => {
  const { admission, runs, bus, recent, logger } = deps
  const all = new Set<Served>()

  const sendAway = ({ liveId, link }: Served): void => {
    const placement = placementOf(admission.state(), liveId)
    link.send({ kind: 'elsewhere', worker: placement?.worker ?? null, term: placement?.term ?? null })
    link.close()
  }

  /** Null where it is not to be served now: who asks comes again. */
  const find = async (liveId: number, asked: number): Promise<Found | 'elsewhere' | null> => {
    // Who asks may have heard of a move before us.
    if ((ownTerm(deps, liveId) ?? 0) !== asked) await admission.refresh()
    const term = ownTerm(deps, liveId)
    if (term === null) return 'elsewhere'
    if (term < asked) return null
    if (runs.termOf(liveId) === term) {
      const hasBegun = (runs.audioSeconds(liveId) ?? 0) > 0
      return { term, status: hasBegun ? 'active' : 'pending' }
    }
    // What still runs in a lower term is dropped first: what it told is not the newest.
    if (runs.termOf(liveId) !== null) return null
    if (term === FIRST_TERM) return { term, status: 'pending' }
    // Behind its fence nothing of a worker before can come: only then is the log all that they told.
    const taken = await deps.takeOver(liveId, term)()
    if (E.isRight(taken)) return { term, status: taken.right.state.status === 'active' ? 'active' : 'pending' }
    return null
  }

  const newest = (liveId: number, term: number): Extract<FromWorker, { readonly kind: 'recent' }> => {
    const finals = recent.of(liveId)
    // Nobody told anything of a live in its first term that was never run.
    if (finals === undefined) return { kind: 'recent', finals: [], isWhole: term === FIRST_TERM, dropped: [] }
    const told = finals.told()
    const last = told.slice(-MOST_RECENT)
    const isWhole = finals.isWhole() && last.length === told.length
    return { kind: 'recent', finals: last.map(passedFrame), isWhole, dropped: finals.dropped().map(finalKey) }
  }

  /** Lines of the live, from the newest on: nothing can be told in between. */
  const listen = (served: Served, term: number): (() => void) => {
    const { liveId, link } = served
    link.send(newest(liveId, term))
    return bus.subscribe(liveId, (signal: LiveSignal) => {
      if (signal.kind === 'moved') return sendAway(served)
      link.send({ kind: 'signal', signal: passedSignal(signal) })
      if (signal.kind === 'ended') return link.close()
      if (link.buffered() <= LONGEST_BACKLOG) return
      logger.warn({ liveId, buffered: link.buffered() }, 'a link does not take the lines of a live fast enough: it is closed')
      link.close()
    })
  }

  const open = (liveId: number, link: WorkerLink) => {
    let isClosed = false
    let waiting: Array<ToWorker> | null = null
    let silence: (() => void) | null = null
    let sender: ReturnType<LinkSenders['open']> | null = null
    const served: Served = { liveId, link, term: null }
    all.add(served)

    const hearLines = (listens: boolean): void => {
      if (listens && silence === null) {
        silence = listen(served, served.term ?? FIRST_TERM)
        // An end that is past was told at once.
        if (isClosed) silence()
      } else if (!listens) {
        silence?.()
        silence = null
      }
    }

    const obey = (message: ToWorker): void => {
      if (message.kind === 'hello') return
      if (message.kind === 'listen') return hearLines(message.listens)
      sender?.message(message)
    }

    const answer = async ({ relay, term, listens }: Hello): Promise<void> => {
      waiting = []
      const found = relay === RELAY_VERSION ? await find(liveId, term) : null
      if (isClosed) return
      if (found === 'elsewhere') return sendAway(served)
      if (found === null) return link.close()
      served.term = found.term
      link.send({ kind: 'here', ...found })
      sender = deps.senders.open({ liveId, term: found.term, link })
      if (listens) hearLines(true)
      const came = waiting
      waiting = null
      came.forEach(obey)
    }

    return {
      message: (message: ToWorker): void => {
        if (isClosed) return
        if (waiting !== null) waiting.push(message)
        else if (served.term !== null) obey(message)
        else if (message.kind === 'hello')
          answer(message).catch((error: unknown) => {
            logger.error({ liveId, error: String(error) }, 'a link could not be answered')
            link.close()
          })
      },
      closed: () => {
        isClosed = true
        all.delete(served)
        silence?.()
        sender?.closed()
      },
    }
  }

  return {
    open,
    end: async ({ liveId, end }) => {
      const ended = await deps.endByWorker(liveId, endRequestFrom(end))
      return ended === null ? null : passedEnded(ended)
    },
    placedAnew: (liveIds) => {
      const meant = liveIds === undefined ? null : new Set(liveIds)
      for (const served of all) {
        const { liveId, term } = served
        if (term === null || meant?.has(liveId) === false) continue
        const own = ownTerm(deps, liveId)
        if (own === null && placementOf(admission.state(), liveId) !== null) sendAway(served)
        else if (own !== null && own !== term) served.link.close()
      }
    },
    size: () => all.size,
  }
}
