import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { AudioFormat, FinishReason } from '../domain/live/events.ts'
import type { EngineSettings } from '../domain/live/settings.ts'
import type { SegmentFinalised } from '../domain/transcript/events.ts'
import type { Caller } from './caller.ts'
import type { AdminLive } from './lives/admin-live.ts'
import type {
  CreateLiveRefusal,
  IdempotencyKeyReused,
  LiveNotFound,
  LiveOver,
  RequestStillRunning,
  SenderAlreadyConnected,
  TranscriptNotFound,
  Unavailable,
} from './errors.ts'
import type { ResumePoint, Wanted } from './lives/queries/resume-point.ts'
import type { EndCause, TranscriptFrame } from './pipeline/signals.ts'
import type { Page, PageQuery } from './ports/documents.ts'
import type { LiveStatus, LiveView, ResolveToken } from './ports/read-models.ts'
import type {
  CreateLiveRequest,
  HistoryEntry,
  Transcript,
} from './requests.ts'
import type { TranslationTarget } from './translation/translations.ts'

/** What the REST routes ask of the application. */
export interface Services {
  /** With a key, a repeated request gets the first one's answer for 24 hours (R76). */
  readonly createLive: (
    caller: Caller,
    request: CreateLiveRequest,
    idempotencyKey: string | null,
  ) => TaskEither<CreateLiveRefusal | IdempotencyKeyReused | RequestStillRunning, LiveView>
  readonly finishLive: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveView>
  /** Ends all matches; the page only cuts the answer (D27). */
  readonly finishByAudioUrl: (caller: Caller, audioUrl: string, page: PageQuery) => TaskEither<Unavailable, Page<LiveView>>
  /** For administrators. */
  readonly finishAnyLive: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, AdminLive>
  /** For good: its text, URL and tokens can never be read again (R86). */
  readonly deleteLive: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, void>
  /** Oldest first. */
  readonly getHistory: (caller: Caller, liveId: number, page: PageQuery) => TaskEither<LiveNotFound | Unavailable, Page<HistoryEntry>>
  /** Also while the live still runs. */
  readonly getTranscript: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | TranscriptNotFound | Unavailable, Transcript>
}

/** A live as its pipeline needs it. */
export interface AttachedLive {
  readonly epoch: number
  readonly userId: number
  readonly status: LiveStatus
  readonly model: string
  readonly language: string
  readonly translations: ReadonlyArray<TranslationTarget>
  readonly audioFormat: AudioFormat
  /** May hold secrets; null for raw. */
  readonly audioUrl: string | null
  readonly autoStart: boolean
  readonly config: EngineSettings
}

/** Where a source process begins in a live. */
export interface SourcePoint {
  /** Samples of the live's clock (16 kHz). */
  readonly sampleOffset: number
  readonly nextSegment: number
  /** The last HLS segment that was heard. */
  readonly mediaSequence: number | null
}

/** What the live sessions (sockets and pipelines) ask of the write side. Each answers once the event is durable. */
export interface LiveLifecycle {
  readonly resolveToken: ResolveToken
  /** Exactly one of many wins, by expected revision. A sender of a process that no longer lives does not count. */
  readonly attachSender: (liveId: number) => TaskEither<SenderAlreadyConnected | LiveOver | Unavailable, AttachedLive>
  readonly detachSender: (liveId: number, epoch: number) => TaskEither<Unavailable, void>
  /** pending → active; nothing to do when it is active already. */
  readonly start: (liveId: number) => TaskEither<LiveOver | Unavailable, void>
  /** An open auto-started live and where its source goes on; null for any other live. */
  readonly autoStarted: (liveId: number) => TaskEither<Unavailable, { readonly live: AttachedLive; readonly point: SourcePoint } | null>
  /** A source process began; with a pid an auto-started live is active (D24). */
  readonly startSource: (liveId: number, facts: SourcePoint & { readonly pid: number | null }) => TaskEither<LiveOver | Unavailable, void>
  /** Terminal event, then Released, then the answer; nothing to do when it is terminal already. */
  readonly end: (liveId: number, cause: EndCause) => TaskEither<Unavailable, void>
  readonly recordSegment: (segment: SegmentFinalised['data']) => TaskEither<Unavailable, void>
  /** What the log holds from `point` on; nothing of a live that ended a minute ago or was deleted. */
  readonly storedFinals: (liveId: number, point: ResumePoint) => TaskEither<Unavailable, StoredFinals>
}

/** Finals of the log, in its order. */
export interface StoredFinals {
  readonly wanted: Wanted
  /** The next page, which may be empty; null once the end was seen. */
  readonly next: () => Promise<Either<Unavailable, ReadonlyArray<TranscriptFrame> | null>>
}

/** What a socket has missed, in order. */
export interface MissedFinals {
  /** The next page of what is stored, which may be empty; null once there is no more. */
  readonly next: StoredFinals['next']
  /** The rest, for one who listens to the bus from this very tick on. */
  readonly rest: () => ReadonlyArray<TranscriptFrame>
}

export type InvalidState = 'config_required' | 'config_too_late' | 'audio_not_expected' | 'over'

/** The sender's side of a live, one for the socket that won it. */
export interface SenderSession {
  readonly liveId: number
  /** Settings of the config frame laid over the live's own; the last one before the first audio wins. */
  readonly configure: (overrides: Partial<EngineSettings>) => 'ok' | 'invalid' | InvalidState
  readonly audio: (samples: Int16Array) => 'ok' | InvalidState
  readonly backlogSeconds: () => number
  /** Called whenever the backlog shrank. */
  readonly onDrained: (callback: () => void) => void
  /** FINISH: no more audio, flush (≤ 30 s), then the live finishes; repeats are ignored (D42). */
  readonly finish: () => void
  /** The socket is gone: what arrived is still transcribed (≤ 10 s), then the live finishes (D55). */
  readonly closed: (reason: Extract<FinishReason, 'sender_closed' | 'audio_too_fast' | 'rate_limited' | 'bad_frames' | 'idle'>) => void
  /** The socket broke without a close: as `closed`, but the live may wait for another sender first (RECONNECT_GRACE). */
  readonly lost: () => void
  /** The handshake never completed: the sender is detached, the live stays as it is. */
  readonly abandoned: () => void
}

/** The lives that run in this process: what the socket server talks to. */
export interface LiveSessions {
  readonly resolveToken: ResolveToken
  readonly attachSender: (liveId: number) => TaskEither<SenderAlreadyConnected | LiveOver | Unavailable, SenderSession>
  /** The finals that a socket missed; for open lives and for those that ended less than a minute ago (D58). */
  readonly missed: (liveId: number, point: ResumePoint) => TaskEither<Unavailable, MissedFinals>
  /** Pulls the source of an open auto-started live; does nothing for any other live. Resolves when it has begun. */
  readonly autoStart: (liveId: number) => Promise<void>
  /** Lets a live's pipeline speak out what it has heard, for at most `limitMs`; at once where there is none. */
  readonly flush: (liveId: number, limitMs: number) => Promise<void>
  readonly close: () => Promise<void>
}
