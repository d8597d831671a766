import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { LiveCommand } from '../../domain/live/commands.ts'
import { textKey } from '../../domain/live/events.ts'
import type { LiveState } from '../../domain/live/state.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { CommandOf } from '../../domain/shared/decider.ts'
import type { LiveOver, Superseded, Unavailable } from '../refusals.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import { mapRefusal } from '../log/map-refusal.ts'
import { type Origin, ownOrigin, type Repeatable } from '../log/origin.ts'
import { sendToSession } from '../log/send-to.ts'
import type { SourcePoint } from './source-point.ts'

// What the worker of a session records while the session runs.

type StartCommand = CommandOf<
  LiveCommand, 'AttachSender' | 'TakeOverLive' | 'ChangeVocabulary' | 'StartSource' | 'StartLive'
>

type Refused = LiveOver | Superseded | Unavailable

const over: LiveOver = { _tag: 'LiveOver' }

/** Sends a command to a session that this process runs. Every attempt of one write has the same origin and time. */
export const changeLive =
  (deps: WriteDeps) =>
  async (
    liveId: number,
    command: StartCommand,
    origin: Origin = ownOrigin(deps),
    at: string = deps.environment.now(),
  ): Promise<Either<Refused, LiveState>> => {
    const sent = await sendToSession(deps)(liveId, command, origin, at)
    // The session was deleted after its token was resolved. Callers treat it as ended.
    return E.isLeft(sent) ? E.left(mapRefusal(sent.left, { LiveUnknown: over })) : E.right(sent.right.state)
  }

/** Fixes the origin and the time of a change before its first attempt. */
const repeatable = (deps: WriteDeps, liveId: number, command: StartCommand): Repeatable<Refused, void> => {
  const [origin, at] = [ownOrigin(deps), deps.environment.now()]
  return async () => E.map(() => undefined)(await changeLive(deps)(liveId, command, origin, at))
}

/**
 * Makes a pending session active, when its first audio arrives. Does nothing when the session is already active. It
 * also creates the key for the text, so final segments can be stored later while the keyring is unavailable.
 */
export type StartLive = (liveId: number, term: number) => Promise<Either<Refused, void>>

export const startLive =
  (deps: WriteDeps): StartLive =>
  async (liveId, term) => {
    // The result is ignored, because without a key the first final segment tries again and reports the error.
    void deps.keyring.seal(textKey(liveId), [])
    const started = await changeLive(deps)(liveId, { type: 'StartLive', term })
    return E.map(() => undefined)(started)
  }

/** The point in a session where a process began to pull the source. */
export interface SourceFacts extends SourcePoint {
  /** Process id, which the interface shows only for auto-started sessions. Null for all other sessions. */
  readonly pid: number | null
  readonly term: number
}

/** Records the start of a source process. An auto-started session becomes active when a pid is given. */
export type StartSource = (liveId: number, facts: SourceFacts) => Repeatable<Refused, void>

export const startSource =
  (deps: WriteDeps): StartSource =>
  (liveId, facts) => repeatable(deps, liveId, { type: 'StartSource', ...facts })

export interface ExpectedVocabulary {
  /** Replaces the earlier vocabulary. */
  readonly vocabulary: GivenVocabulary
  readonly term: number
}

/** Stores a new vocabulary, so another worker that takes over the session uses it too. Skips an equal vocabulary. */
export type ChangeVocabulary = (liveId: number, expected: ExpectedVocabulary) => Repeatable<Refused, void>

export const changeVocabulary =
  (deps: WriteDeps): ChangeVocabulary =>
  (liveId, expected) => repeatable(deps, liveId, { type: 'ChangeVocabulary', ...expected })

/** Identifies a sender. `term`: leadership term of its worker. `epoch`: number of the sender within the session. */
export interface SenderOfTerm {
  readonly term: number
  readonly epoch: number
}

/** Records that a sender left. Does nothing when a newer sender is attached or the session has ended. */
export type DetachSender = (liveId: number, sender: SenderOfTerm) => Repeatable<Superseded | Unavailable, void>

export const detachSender =
  (deps: WriteDeps): DetachSender =>
  (liveId, sender) => {
    const [origin, at] = [ownOrigin(deps), deps.environment.now()]
    return async () => {
      const detached = await sendToSession(deps)(liveId, { type: 'DetachSender', ...sender }, origin, at)
      if (E.isRight(detached) || detached.left._tag === 'LiveUnknown') return E.right(undefined)
      return E.left(detached.left)
    }
  }
