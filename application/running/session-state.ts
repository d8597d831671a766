import type { EndCause } from '../../domain/live/events.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../domain/live/vocabulary.ts'
import type { AttachedLive } from '../lives/attached-live.ts'
import type { Origin } from '../log/origin.ts'
import type { LiveSignal } from '../pipeline/signals.ts'
import type { Answer } from './socket-sessions.ts'

export interface Sender {
  /** Counts the senders of the session in this process. */
  readonly number: number
  /** The sample of the session with which its next audio begins. Null: it continues at the present sample. */
  readonly at: number | null
  /** The session was active when it came. */
  readonly isLate: boolean
  /** An earlier sender was lost in this process. */
  readonly isReturning: boolean
  /** `resumed`: it has sent its config frame to an earlier worker or socket. `speaking`: it has sent audio. */
  readonly phase: 'came' | 'resumed' | 'configured' | 'speaking'
  readonly isRecorded: boolean
  /** It keeps its place until the session is over, but what it sends no longer counts. */
  readonly hasLeft: boolean
}

export type Attached = SessionState & { readonly sender: Sender }

/** `isBeyondBudget`: the owner may not change a vocabulary today. Audio never depends on the budget. */
export interface ConfigFrame {
  readonly overrides: Partial<EngineSettings>
  readonly vocabulary: GivenVocabulary
  readonly isBeyondBudget: boolean
}

/** `origin`: the request that caused the end. Null when the worker ends the session on its own. */
export interface End {
  readonly cause: EndCause
  readonly origin: Origin | null
}

/** A session that runs in this process. It holds no secrets and no audio, so it can be logged. */
export interface SessionState {
  readonly facts: Pick<AttachedLive, 'model' | 'config'> & {
    /** Samples of the session that earlier processes received. */
    readonly earlier: number
    /** Its audio comes from a URL. */
    readonly isPulled: boolean
    /** An auto-started source does not depend on a sender socket. */
    readonly isIndependent: boolean
    /** Milliseconds for which it waits for a lost sender. 0: it does not wait. */
    readonly grace: number
  }
  /** `finishing`: takes no more audio. `ending`: the end is being stored. `over`: publishes nothing. */
  readonly stage: 'open' | 'finishing' | 'ending' | 'over'
  /** The settings of the pipeline. Null: there is no pipeline. */
  readonly config: EngineSettings | null
  readonly vocabulary: GivenVocabulary
  /** Samples that this process received, including lost and skipped samples. */
  readonly received: number
  readonly isPulling: boolean
  /** Number of senders so far. */
  readonly senders: number
  readonly sender: Sender | null
  /** The newest sender in the log, and its number there. */
  readonly recorded: { readonly sender: number; readonly epoch: number } | null
  /** What happens if no sender comes in time. `limitMs`: the received audio is transcribed before the end. */
  readonly wait: { readonly end: End; readonly limitMs: number | null } | null
  readonly end: { readonly cause: EndCause; readonly isStored: boolean } | null
}

type Begun = Pick<AttachedLive, 'model' | 'config' | 'vocabulary' | 'audioFormat' | 'autoStart'>

/** `earlier`: samples that earlier processes received. `grace`: RECONNECT_GRACE in milliseconds. */
export const beginSession = (live: Begun, earlier: number, grace: number): SessionState => {
  const { model, config, vocabulary } = live
  const isPulled = live.audioFormat !== 'raw'
  const facts = { model, config, earlier, grace, isPulled, isIndependent: live.autoStart && isPulled }
  return {
    facts, vocabulary, stage: 'open', config: null, received: 0, isPulling: false, senders: 0, sender: null,
    recorded: null, wait: null, end: null,
  }
}

export type Timer = 'record' | 'wait' | 'report'

/** What a step causes. `run-session.ts` does it, in order. */
export type Effect =
  /** The first one opens the pipeline. */
  | readonly ['configurePipeline', settings: EngineSettings, vocabulary: GivenVocabulary]
  /** Gives `modelLoaded` once the model is ready, but after the answer to the present input. */
  | readonly ['awaitModel']
  /** `units`: what the change costs the owner. */
  | readonly ['setVocabulary', vocabulary: GivenVocabulary, units: number]
  /** `lost`: samples that the source lost before these. `skipped`: samples that an earlier worker received. */
  | readonly ['pushAudio', samples: Int16Array, lost: number, skipped: number]
  | readonly ['appendStart' | 'startSource' | 'stopSource']
  | readonly ['appendAttach' | 'appendDetach', sender: number]
  /** Transcribes the received audio, then gives `end`. */
  | readonly ['finish', limitMs: number, end: End]
  | readonly ['appendEnd', end: End]
  | readonly ['startTimer', timer: Timer, ms: number]
  | readonly ['cancelTimer', timer: Timer]
  | readonly ['publish', signal: Extract<LiveSignal, { kind: 'started' | 'ended' }>]
  /** Tells the sockets of the session and its owner that the end is stored. */
  | readonly ['reportEnd', cause: EndCause]
  /** Forgets a session without a pipeline, because it has nothing to keep. */
  | readonly ['discard']
  /** Stops the source, the timers and the pipeline. */
  | readonly ['stop']

type ValuesOf<Name, E = Effect> =
  E extends readonly [infer Names, ...infer Values] ? (Name extends Names ? Values : never) : never

/** Does the effects, by name. */
export type Effects = { readonly [Name in Effect[0]]: (...values: ValuesOf<Name>) => unknown }

/** What an input changes and causes, and what its sender is told. */
export interface Step {
  readonly state: SessionState
  readonly effects: ReadonlyArray<Effect>
  readonly answer: Answer
}
