import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveOver, Superseded, Unavailable } from '../refusals.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import { createOutage } from '../outages.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

/** A final is refused when this many writes already wait for the store. */
const MAX_QUEUED_FINALS = 10_000
const RETRY = { first: 100, longest: 5000 }
/** Attempts of a write that throws. They are few, because an exception rarely disappears with a retry. */
const MAX_ATTEMPTS_AFTER_EXCEPTION = 3

type WriteName = 'attach' | 'start' | 'source' | 'vocabulary' | 'segment' | 'detach' | 'end'
type Refusal = LiveOver | Superseded | Unavailable
type Write = () => Promise<Either<Refusal, void>>
type Attempt = 'stored' | 'refused' | 'retry'

/** The writes of one session, in order. Each write is retried until it is stored. */
export interface WriteQueue {
  /** Resolves to true once the write is stored. False: it was refused, or the queue is full or closed. */
  readonly add: (name: WriteName, write: Write) => Promise<boolean>
  /** Number of writes that are not stored yet. */
  readonly size: () => number
}

export interface WriteQueueOptions {
  readonly liveId: number
  readonly logger: Logger
  readonly timers: Timers
  readonly environment: Pick<Environment, 'random' | 'monotonic'>
  /** Aborts when the service closes. Waiting writes are then abandoned and logged. */
  readonly signal: AbortSignal
  /** Receives every write, so a close can wait for running writes. */
  readonly track: (work: Promise<unknown>) => void
  /** Called when another worker runs the session, so all further writes will be refused. */
  readonly superseded: () => void
}

/** Returns whether a retry is useless. Missing keys and damaged data end the retries of all writes except the end. */
const isPermanent = (name: WriteName, refusal: Refusal): boolean => {
  switch (refusal._tag) {
    case 'LiveOver':
    case 'Superseded':
      return true
    case 'KeyErased':
    case 'KeyMissing':
    case 'LogCorrupted':
    case 'EventTypeUnknown':
      return name !== 'end'
    case 'StoreUnavailable':
    case 'DocumentsUnavailable':
    case 'KeyringUnavailable':
    case 'Contended':
      return false
  }
}

export const createWriteQueue = (options: WriteQueueOptions): WriteQueue => {
  const { liveId, logger, timers, environment, signal, track } = options
  const outage = createOutage(options, 'a write of a session failed', 'the writes of a session are stored again')
  let size = 0
  let last: Promise<unknown> = Promise.resolve()

  const attempt = async (name: WriteName, write: Write, count: number): Promise<Attempt> => {
    try {
      const written = await write()
      if (E.isRight(written)) {
        outage.ended({ liveId })
        return 'stored'
      }
      const permanent = isPermanent(name, written.left)
      const { _tag: refusal } = written.left
      if (refusal === 'Superseded') options.superseded()
      if (refusal !== 'LiveOver') outage.failed(refusal, { liveId, write: name, permanent })
      return permanent ? 'refused' : 'retry'
    } catch (error) {
      const permanent = name !== 'end' && count >= MAX_ATTEMPTS_AFTER_EXCEPTION
      const about = { liveId, write: name, attempt: count, error: String(error), permanent }
      logger.error(about, 'a write of a session threw an exception')
      return permanent ? 'refused' : 'retry'
    }
  }

  const run = async (name: WriteName, write: Write): Promise<boolean> => {
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(name, write, count)
      if (outcome !== 'retry') return outcome === 'stored'
      if (signal.aborted) {
        logger.error({ liveId, write: name }, 'a write of a session was abandoned at close')
        return false
      }
      await pause(timers, retryDelay(RETRY, count - 1, environment.random()), signal)
    }
  }

  return {
    add: async (name, write) => {
      if (name === 'segment' && size >= MAX_QUEUED_FINALS) {
        logger.error({ liveId }, 'too many finals wait for the store')
        return false
      }
      size += 1
      const done = last.then(async () => run(name, write)).finally(() => {
        size -= 1
      })
      last = done
      track(done)
      return await done
    },
    size: () => size,
  }
}
