import type { Either } from 'fp-ts/lib/Either.js'
import type { FinishReason } from '../../domain/live/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { LiveOver, SenderAlreadyConnected, Superseded, Unavailable } from '../refusals.ts'
import type { ResolveToken } from '../lives/queries/resolve-token.ts'
import type { ResumePoint } from '../lives/queries/resume-point.ts'
import type { MissedFinals } from './missed-finals.ts'

/** `rate_limited`: the owner has used up the daily budget, so the vocabulary stays as it is. */
export type InvalidState = 'config_required' | 'config_too_late' | 'audio_not_expected' | 'rate_limited' | 'over'

/** The answer to a frame of a sender. `invalid`: its settings contradict each other or the task of the session. */
export type Answer = 'ok' | 'invalid' | InvalidState

export type CloseReason =
  Extract<FinishReason, 'sender_closed' | 'audio_too_fast' | 'rate_limited' | 'bad_frames' | 'idle'>

/** The session of one sender socket. A live session has at most one sender. */
export interface SenderSession {
  readonly liveId: number
  /**
   * Applies the settings of a config frame over the session's settings. The last frame before the first audio counts.
   * After the first audio only the vocabulary may change, in a frame without other members.
   */
  readonly configure: (overrides: Partial<EngineSettings>, expected?: GivenVocabulary) => Answer
  readonly audio: (samples: Int16Array) => Answer
  /**
   * Numbers of samples of the session. `received`: samples so far. All speech before `sent` is in sent finals. All
   * speech before `stored` is in stored finals.
   */
  readonly progress: () => { readonly received: number; readonly sent: number; readonly stored: number }
  readonly backlogSeconds: () => number
  /** Sets a callback for each time the backlog shrinks. */
  readonly onDrained: (callback: () => void) => void
  /** Takes no more audio, transcribes the received audio (≤ 30 s), then ends the session. Repeated calls do nothing. */
  readonly finish: () => void
  /** Call this when the socket was closed. Transcribes the received audio (≤ 10 s), then ends the session. */
  readonly closed: (reason: CloseReason) => void
  /**
   * Call this when the socket broke without a close frame. The session first waits for another sender: for the
   * configured time, and at least `atLeast` milliseconds. Then it ends as after `closed`.
   */
  readonly lost: (atLeast?: number) => void
  /** Call this when the handshake did not complete. A started session then waits for another sender. */
  readonly abandoned: (atLeast?: number) => void
}

/** The sessions of all processes, as listener sockets need them. */
export interface ListenerSessions {
  readonly resolveToken: ResolveToken
  /** Returns the finals that a socket missed, of open sessions and of sessions that ended within the last minute. */
  readonly missed: (liveId: number, point: ResumePoint) => Promise<Either<Unavailable, MissedFinals>>
  /** Resolves when a socket that subscribes afterwards misses no final. Absent when there is only one process. */
  readonly ready?: (liveId: number) => Promise<void>
}

/** The sessions that run in this process. */
export interface LiveSessions extends ListenerSessions {
  /** Gives the sender the only place for a sender of this session. Returns its sender session. */
  readonly attachSender: (
    liveId: number,
    /** For a returning sender: the sample of the session with which its audio begins. */
    from?: number | null,
  ) => Promise<Either<SenderAlreadyConnected | LiveOver | Superseded | Unavailable, SenderSession>>
}
