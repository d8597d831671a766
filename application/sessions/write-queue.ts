import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { LiveOver, Superseded, Unavailable } from '../errors.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import { pause, retryDelay } from '../waiting.ts'
import type { Timers } from '../ports/timers.ts'

/** Finals that may wait for a store that is away (design 6). */
const LONGEST_QUEUE = 10_000
const RETRY = { first: 100, longest: 5000 }
/** A defect is rarely cured by trying again. */
const ATTEMPTS_AFTER_DEFECTS = 3

type WriteName = 'start' | 'source' | 'vocabulary' | 'segment' | 'detach' | 'end'
type Refusal = LiveOver | Superseded | Unavailable
type Write = TaskEither<Refusal, void>
type Attempt = 'durable' | 'hopeless' | 'again'

/** Writes of one live, in order, each retried until the store took it. */
export interface WriteQueue {
  /** Resolves to true once it is durable; to false where it never will be: refused for good, no room, or closed. */
  readonly add: (name: WriteName, write: Write) => Promise<boolean>
  /** Writes not yet durable. */
  readonly size: () => number
}

export interface WriteQueueOptions {
  readonly liveId: number
  readonly logger: Logger
  readonly timers: Timers
  readonly environment: Pick<Environment, 'random'>
  /** Aborts when the service closes: what still waits is given up and logged. */
  readonly signal: AbortSignal
  /** Told of every write, so that a close can wait for those in flight. */
  readonly track: (work: Promise<unknown>) => void
  /** Another worker has the live: none of its writes will ever be taken. */
  readonly superseded: () => void
}

/** A segment whose key is gone or whose log is broken can never be written; an end is tried for ever. */
const isHopeless = (name: WriteName, refusal: Refusal): boolean => {
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
  let size = 0
  let last: Promise<unknown> = Promise.resolve()

  const attempt = async (name: WriteName, write: Write, count: number): Promise<Attempt> => {
    try {
      const written = await write()
      if (E.isRight(written)) return 'durable'
      const hopeless = isHopeless(name, written.left)
      const { _tag: refusal } = written.left
      if (refusal === 'Superseded') options.superseded()
      if (refusal !== 'LiveOver')
        logger.warn({ liveId, write: name, refusal, attempt: count, hopeless }, 'a write of a live failed')
      return hopeless ? 'hopeless' : 'again'
    } catch (error) {
      const hopeless = name !== 'end' && count >= ATTEMPTS_AFTER_DEFECTS
      logger.error({ liveId, write: name, attempt: count, error: String(error), hopeless }, 'a write of a live broke')
      return hopeless ? 'hopeless' : 'again'
    }
  }

  const run = async (name: WriteName, write: Write): Promise<boolean> => {
    for (let count = 1; ; count += 1) {
      const outcome = await attempt(name, write, count)
      if (outcome !== 'again') return outcome === 'durable'
      if (signal.aborted) {
        logger.error({ liveId, write: name }, 'a write of a live was given up at close')
        return false
      }
      await pause(timers, retryDelay(RETRY, count - 1, environment.random()), signal)
    }
  }

  return {
    add: async (name, write) => {
      if (name === 'segment' && size >= LONGEST_QUEUE) {
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
