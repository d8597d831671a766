import type { Environment, Logger } from '../../ports/environment.ts'
import type { FromWorker, LiveLink, LiveLinks } from '../../ports/peers/live-links.ts'
import { RELAY_VERSION } from '../../ports/peers/live-links.ts'
import type { Timers } from '../../ports/timers.ts'
import { retryDelay } from '../../waiting.ts'
import type { AnsweredLink, LinkLoss } from './remote-sender.ts'
import type { Whereabouts } from './whereabouts.ts'

/** Milliseconds before a live is dialled again, half of it at random; one that holds nothing is most likely over. */
const REDIAL = { first: 200, longest: 1000 }
const REDIAL_UNKNOWN = { first: 200, longest: 5000 }

/** What a worker says behind its answer to `hello`. */
export type Answered = Exclude<FromWorker, { readonly kind: 'here' | 'elsewhere' }>

export interface LinkHearer {
  readonly up: (up: AnsweredLink) => void
  readonly message: (message: Answered) => void
  readonly down: (loss: LinkLoss) => void
}

export interface KeptLinkDeps {
  readonly links: Pick<LiveLinks, 'open'>
  readonly whereabouts: Whereabouts
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  readonly logger: Logger
}

/** The one link of this process to the worker of a live, dialled again, wherever the live is by then, until it is stopped. */
export interface KeptLink {
  /** Whether lines are wanted, now and of each worker that comes. */
  readonly listen: (listens: boolean) => void
  /** The live may have been placed anew: a link to a lower term is given up at once. */
  readonly look: () => void
  readonly stop: () => void
}

const NOT_OPEN: LiveLink = { send: () => undefined, buffered: () => 0, close: () => undefined }

interface Dialled {
  link: LiveLink
  term: number
  isUp: boolean
}

export const keepLink = (deps: KeptLinkDeps, liveId: number, hearer: LinkHearer, listensAtFirst: boolean): KeptLink => {
  const { links, whereabouts, timers, environment, logger } = deps
  let present: Dialled | null = null
  let isStopped = false
  let attempt = 0
  /** Whoever answers in a lower term than one that was heard is not the live's worker any more. */
  let highest = 0
  let listens = listensAtFirst
  let cancel: () => void = () => undefined

  const isBehind = ({ term }: { readonly term: number }): boolean => {
    const where = whereabouts.of(liveId)
    return where.kind !== 'unknown' && where.term > term
  }

  const redial = async (): Promise<void> => {
    await whereabouts.refresh().catch((error: unknown) => {
      logger.error({ liveId, error: String(error) }, 'where a live is could not be asked: it is dialled where it was')
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
    hearer.down(loss)
    if (!isStopped && present === null) wait(REDIAL)
  }

  const obey = (dialled: Dialled, message: FromWorker): void => {
    if (message.kind !== 'here' && message.kind !== 'elsewhere') {
      if (!dialled.isUp) return
      hearer.message(message)
      // One whose words break is not dialled without pause.
      attempt = 0
      return
    }
    if (message.kind === 'elsewhere' || message.term < highest || isBehind(message)) {
      lose('elsewhere')
      return dialled.link.close()
    }
    dialled.isUp = true
    dialled.term = message.term
    highest = message.term
    hearer.up({ link: dialled.link, term: message.term, status: message.status })
  }

  const dial = (): void => {
    const where = whereabouts.of(liveId)
    if (where.kind !== 'member') {
      hearer.down('unreachable')
      if (!isStopped && present === null) wait(where.kind === 'unknown' ? REDIAL_UNKNOWN : REDIAL)
      return
    }
    const dialled: Dialled = { link: NOT_OPEN, term: where.term, isUp: false }
    present = dialled
    dialled.link = links.open(where.peer, liveId, {
      message: (message) => {
        if (present !== dialled) return
        try {
          obey(dialled, message)
        } catch (error) {
          logger.error({ liveId, message: message.kind, error: String(error) }, 'a message of a worker broke')
          if (present === dialled) lose('broken')
          dialled.link.close()
        }
      },
      closed: (why) => {
        if (present !== dialled) return
        logger.info({ liveId, worker: where.peer.name, why }, 'the link to a live is gone')
        lose(dialled.isUp ? 'broken' : 'unreachable')
      },
    })
    dialled.link.send({ kind: 'hello', relay: RELAY_VERSION, term: where.term, listens })
  }

  const look = (): void => {
    if (isStopped || (present !== null && !isBehind(present))) return
    const former = present
    cancel()
    if (former !== null) {
      present = null
      hearer.down('elsewhere')
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
    look,
    stop: () => {
      isStopped = true
      cancel()
      const former = present
      present = null
      former?.link.close()
    },
  }
}
