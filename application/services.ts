import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { AudioFormat, FinishReason } from '../domain/live/events.ts'
import type { EngineSettings } from '../domain/live/settings.ts'
import type { SegmentFinalised } from '../domain/transcript/events.ts'
import type { Permission } from '../domain/user/events.ts'
import type { Caller } from './caller.ts'
import type { CreateLiveRefusal, LiveNotFound, LiveOver, SenderAlreadyConnected, Unavailable, UsernameTaken } from './errors.ts'
import type { EndCause } from './pipeline/signals.ts'
import type { LiveFacts, LiveStatus, LiveView, SocketRole, UserView } from './ports/read-models.ts'
import type { TranslationTarget } from './translation/translations.ts'

/** One page and the number of all items that match. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly total: number
}

export interface PageQuery {
  readonly skip: number
  readonly limit: number
}

/** A well-formed request for a live: defaults filled in, bounds checked. */
export interface CreateLiveRequest {
  readonly model: string
  readonly language: string
  readonly audioFormat: AudioFormat
  /** Null for raw. */
  readonly audioUrl: string | null
  /** Target codes as asked; duplicates are counted once, order kept (R55). */
  readonly translations: ReadonlyArray<string>
  readonly autoStart: boolean
  readonly retention: boolean
  readonly config: EngineSettings
  readonly display: LiveFacts['display']
  /** Custom listener token (D15), null for a random one. */
  readonly listenerToken: string | null
}

export interface NewUser {
  readonly username: string
  readonly password: string
  readonly permissions: ReadonlyArray<Permission>
  readonly maxSessions: number
  readonly maxTranslations: number
}

/** What the REST routes ask of the application. */
export interface Services {
  /** A JWT, none for a wrong name or password (R28). */
  readonly login: (username: string, password: string) => Promise<Option<string>>
  /** The caller behind a bearer token, none for anything invalid (R34). */
  readonly authenticate: (bearer: string) => Promise<Option<Caller>>
  readonly hasUsers: () => boolean
  /** Also adds the first profile, `Default`. `actor`: `user:7` or `setup`. */
  readonly registerUser: (user: NewUser, actor: string) => TaskEither<UsernameTaken | Unavailable, UserView>
  readonly listUsers: (page: PageQuery) => TaskEither<Unavailable, Page<UserView>>
  readonly createLive: (caller: Caller, request: CreateLiveRequest) => TaskEither<CreateLiveRefusal, LiveView>
  /** Another user's live is not found (R36). */
  readonly getLive: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveView>
  /** Newest first; no statuses means all. */
  readonly listLives: (caller: Caller, statuses: ReadonlyArray<LiveStatus>, page: PageQuery) => TaskEither<Unavailable, Page<LiveView>>
  readonly finishLive: (caller: Caller, liveId: number) => TaskEither<LiveNotFound | Unavailable, LiveView>
  /** Ends all matches; the page only cuts the answer (D27). */
  readonly finishByAudioUrl: (caller: Caller, audioUrl: string, page: PageQuery) => TaskEither<Unavailable, Page<LiveView>>
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
  /** The role and the live behind a socket token; with `liveId`, only of that live; else the newest open one, else the newest. */
  readonly resolveToken: (
    token: string,
    liveId: number | null,
  ) => TaskEither<Unavailable, Option<{ readonly liveId: number; readonly role: SocketRole; readonly status: LiveStatus }>>
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
  readonly closed: (reason: Extract<FinishReason, 'sender_closed' | 'audio_too_fast' | 'rate_limited' | 'bad_frames'>) => void
  /** The handshake never completed: the sender is detached, the live stays as it is. */
  readonly abandoned: () => void
}

/** The lives that run in this process: what the socket server talks to. */
export interface LiveSessions {
  readonly resolveToken: LiveLifecycle['resolveToken']
  readonly attachSender: (liveId: number) => TaskEither<SenderAlreadyConnected | LiveOver | Unavailable, SenderSession>
  /** Pulls the source of an open auto-started live; does nothing for any other live. Resolves when it has begun. */
  readonly autoStart: (liveId: number) => Promise<void>
  /** Lets a live's pipeline speak out what it has heard, for at most `limitMs`; at once where there is none. */
  readonly flush: (liveId: number, limitMs: number) => Promise<void>
  readonly close: () => Promise<void>
}
