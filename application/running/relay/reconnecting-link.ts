import type { Environment, Logger } from '../../ports/environment.ts'
import { type FromWorker, type LiveLink, type LiveLinks, RELAY_VERSION } from '../../ports/live-links.ts'
import type { Timers } from '../../ports/timers.ts'
import { retryDelay } from '../../waiting.ts'
import type { AnsweredLink, LinkLoss } from './remote-sender.ts'
import type { Placements } from './placements.ts'

/** Waits before the next attempt, in milliseconds. */
const REDIAL = { first: 200, longest: 1000 }
/** The waits are longer when the session has no reservation, because it has probably ended. */
const REDIAL_UNKNOWN = { first: 200, longest: 5000 }

/** The messages of a worker after its answer to `hello`. */
export type AnsweredMessage = Exclude<FromWorker, { readonly kind: 'here' | 'elsewhere' }>

export interface LinkSubscriber {
  readonly up: (up: AnsweredLink) => void
  readonly message: (message: AnsweredMessage) => void
  readonly down: (loss: LinkLoss) => void
}

export interface ReconnectingLinkDeps {
  readonly links: Pick<LiveLinks, 'open'>
  readonly placements: Placements
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  readonly logger: Logger
}

/** The link of this process to the worker of a session. It reconnects, also to another worker, until it is stopped. */
export interface ReconnectingLink {
  /** Requests or cancels captions, from the present worker and all later workers. */
  readonly listen: (listens: boolean) => void
  /** Call this when the session may have moved. A link to a worker of an older term is closed immediately. */
  readonly checkPlacement: () => void
  readonly stop: () => void
}

const NOT_OPEN: LiveLink = { send: () => undefined, buffered: () => 0, close: () => undefined }

interface Dialled {
  link: LiveLink
  term: number
  isUp: boolean
}

export const openReconnectingLink = (
  deps: ReconnectingLinkDeps,
  liveId: number,
  subscriber: LinkSubscriber,
  listensAtFirst: boolean,
): ReconnectingLink => {
  const { links, placements, timers, environment, logger } = deps
  let present: Dialled | null = null
  let isStopped = false
  let attempt = 0
  /** The highest term of an answer. A worker that answers in a lower term has lost the session. */
  let highest = 0
  let listens = listensAtFirst
  let cancel: () => void = () => undefined

  const isOutdated = ({ term }: { readonly term: number }): boolean => {
    const placement = placements.of(liveId)
    return placement.kind !== 'unknown' && placement.term > term
  }

  const redial = async (): Promise<void> => {
    await placements.refresh().catch((error: unknown) => {
      logger.error({ liveId, error: String(error) }, 'the log could not be read to find the worker of a session')
    })
    if (!isStopped && present === null) dial()
  }

  const wait = (backOff: typeof REDIAL): void => {
    cancel()
    cancel = timers.after(retryDelay(backOff, attempt, environment.random()), () => void redial())
    attempt += 1
  }

  const lose = (loss: LinkLoss): void => {
    present = null
    subscriber.down(loss)
    if (!isStopped && present === null) wait(REDIAL)
  }

  const handle = (dialled: Dialled, message: FromWorker): void => {
    if (message.kind !== 'here' && message.kind !== 'elsewhere') {
      if (!dialled.isUp) return
      subscriber.message(message)
      // Waits become short again only after a handled message. Otherwise a worker with broken messages would be called
      // again at once.
      attempt = 0
      return
    }
    if (message.kind === 'elsewhere' || message.term < highest || isOutdated(message)) {
      lose('elsewhere')
      return dialled.link.close()
    }
    dialled.isUp = true
    dialled.term = message.term
    highest = message.term
    subscriber.up({ link: dialled.link, term: message.term, status: message.status })
  }

  const dial = (): void => {
    const placement = placements.of(liveId)
    if (placement.kind !== 'member') {
      subscriber.down('unreachable')
      if (!isStopped && present === null) wait(placement.kind === 'unknown' ? REDIAL_UNKNOWN : REDIAL)
      return
    }
    const dialled: Dialled = { link: NOT_OPEN, term: placement.term, isUp: false }
    present = dialled
    dialled.link = links.open(placement.peer, liveId, {
      message: (message) => {
        if (present !== dialled) return
        try {
          handle(dialled, message)
        } catch (error) {
          const about = { liveId, message: message.kind, error: String(error) }
          logger.error(about, 'a message of a worker could not be handled')
          if (present === dialled) lose('broken')
          dialled.link.close()
        }
      },
      closed: (why) => {
        if (present !== dialled) return
        logger.info({ liveId, worker: placement.peer.name, why }, 'the link to a session was closed')
        lose(dialled.isUp ? 'broken' : 'unreachable')
      },
    })
    dialled.link.send({ kind: 'hello', relay: RELAY_VERSION, term: placement.term, listens })
  }

  const checkPlacement = (): void => {
    if (isStopped || (present !== null && !isOutdated(present))) return
    const former = present
    cancel()
    if (former !== null) {
      present = null
      subscriber.down('elsewhere')
      former.link.close()
    }
    if (!isStopped && present === null) dial()
  }

  dial()
  return {
    listen: (wanted) => {
      if (wanted === listens) return
      listens = wanted
      present?.link.send({ kind: 'listen', listens })
    },
    checkPlacement: checkPlacement,
    stop: () => {
      isStopped = true
      cancel()
      const former = present
      present = null
      former?.link.close()
    },
  }
}
