import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { liveStream, textKey } from '../../domain/live/events.ts'
import { segmentsStream } from '../../domain/transcript/events.ts'
import type { Documents } from '../ports/documents.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { EventStore, StoredEvent } from '../ports/event-store.ts'
import type { Keyring } from '../ports/keyring.ts'
import { pause, retryDelay } from '../ports/timers.ts'
import type { Timers } from '../ports/timers.ts'
import type { Unavailable } from '../errors.ts'

export interface ForgetTextDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'read' | 'deleteStream'>
  readonly keyring: Pick<Keyring, 'erase'>
  readonly documents: Pick<Documents, 'checkpoint' | 'commit'>
  readonly environment: Pick<Environment, 'now' | 'random'>
  readonly logger: Logger
  readonly timers: Timers
}

/** Name of the checkpoint: every end of a live up to there has been dealt with. */
export const FORGET_TEXT = 'forget-text'

/** A little under the promised 60 s, so that from then on nothing can be read (R88). */
const FORGET_AFTER_MS = 58_000

const RETRY = { first: 500, longest: 30_000 }

const isEnd = ({ type }: StoredEvent): boolean => type === 'LiveFinished' || type === 'LiveFailed'

/** The key first: with it gone no copy of the text can be read. Both are repeatable. */
const forget = async (deps: ForgetTextDeps, liveId: number): Promise<Either<Unavailable, void>> => {
  const erased = await deps.keyring.erase([textKey(liveId)])()
  return E.isLeft(erased) ? erased : await deps.store.deleteStream(segmentsStream(liveId))()
}

const orThrow = <A>(result: Either<Unavailable, A>): A => {
  if (E.isRight(result)) return result.right
  throw new Error(result.left._tag, { cause: result.left })
}

/**
 * Whether the live did not ask to keep its text; one without a beginning keeps nothing. Where the beginning cannot be
 * trusted nobody knows, and what is erased never comes back: the text stays, and the ends of later lives do not wait.
 */
const isToBeForgotten = async (deps: ForgetTextDeps, liveId: number): Promise<boolean> => {
  const first = await deps.store.read(liveStream(liveId), { limit: 1 })()
  if (E.isLeft(first) && first.left._tag === 'LogCorrupted') {
    deps.logger.error({ liveId, reason: first.left.reason }, 'the text of a live is kept: its log is corrupted, so nobody knows whether it asked for that')
    return false
  }
  return !orThrow(first).some((event) => event.data['retention'] === true)
}

/**
 * Follows the ends of lives and makes the text of those without retention unreadable a minute later. Ends come in the
 * order of time, so waiting for one never delays the next; after a restart it goes on from its checkpoint.
 */
const follow = async (deps: ForgetTextDeps, signal: AbortSignal, onProgress: () => void): Promise<void> => {
  const from = orThrow(await deps.documents.checkpoint(FORGET_TEXT)())
  for await (const message of deps.store.subscribe(from, ['live-'], signal)) {
    if (message.kind !== 'event' || !isEnd(message.event)) continue
    const { data, position } = message.event
    const liveId = Number(data['liveId'])
    if (await isToBeForgotten(deps, liveId)) {
      const due = Date.parse(String(data['at'])) + FORGET_AFTER_MS
      await pause(deps.timers, Math.min(FORGET_AFTER_MS, Math.max(0, due - Date.parse(deps.environment.now()))), signal)
      if (signal.aborted) return
      orThrow(await forget(deps, liveId))
    }
    // Written at ends alone: what lies between two of them is quickly passed again after a restart.
    orThrow(await deps.documents.commit(FORGET_TEXT, [], position)())
    onProgress()
  }
}

/** Runs until stopped; failures are logged and tried again from the checkpoint, so no live is passed over. */
export const startForgettingText = (deps: ForgetTextDeps): { readonly stop: () => Promise<void> } => {
  const controller = new AbortController()
  const { signal } = controller

  const run = async (): Promise<void> => {
    let attempt = 0
    while (!signal.aborted) {
      try {
        await follow(deps, signal, () => { attempt = 0 })
      } catch (error) {
        deps.logger.warn({ err: error, attempt }, 'the text of ended lives could not be forgotten; trying again')
      }
      // Also when the subscription merely ended: a store that ends each at once must not keep the process busy.
      await pause(deps.timers, retryDelay(RETRY, attempt++, deps.environment.random()), signal)
    }
  }

  const running = run()
  return {
    stop: async () => {
      controller.abort()
      await running
    },
  }
}
