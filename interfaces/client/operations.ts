// Made by tools/client/make.ts from the description of the interface: change the table of routes and run that again.

export interface AdminLiveSession {
  readonly id: number
  readonly user_id: number
  readonly username: string
  readonly status: 'pending' | 'active' | 'finished' | 'error'
  readonly live_retention: boolean
  readonly audio_format: 'raw' | 'hls' | 'rtmp' | 'rtsp'
  readonly auto_start: boolean
  readonly auto_start_pid: number | null
  readonly vram: number
  readonly lag: number | null
  readonly config: EngineSettings
  readonly model: Model
  readonly language: Language
  readonly translations: ReadonlyArray<TranslationPair>
  readonly created_at: string
  readonly updated_at: string | null
}

export interface AdminModel {
  readonly id: number
  readonly name: string
  readonly active: boolean
  readonly vram: number
  readonly created_at: string
  readonly updated_at: string | null
  readonly languages: ReadonlyArray<string>
  readonly installed: boolean
  readonly ships: boolean
  readonly loads: boolean | null
  readonly precision: string | null
  readonly source: string | null
  readonly bytes: number | null
  readonly measured: boolean
  readonly open_lives: number
}

export interface AdminTranslationPair {
  readonly id: number
  readonly model: string
  readonly active: boolean
  readonly vram: number
  readonly lang_from: PairLanguage
  readonly lang_to: PairLanguage
  readonly created_at: string
  readonly updated_at: string | null
  readonly languages: ReadonlyArray<string>
  readonly installed: boolean
  readonly ships: boolean
  readonly loads: boolean | null
  readonly precision: string | null
  readonly source: string | null
  readonly bytes: number | null
  readonly measured: boolean
  readonly open_lives: number
}

export interface ApiToken {
  readonly id: number
  readonly name: string
  readonly token_prefix: string
  readonly is_active: boolean
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly created_at: string
}

export interface BearerToken {
  readonly access_token: string
  readonly token_type: 'bearer'
}

export interface Capacity {
  readonly vram_total: number
  readonly vram_reserved: number
  readonly vram_free: number
  readonly open_sessions: number
  readonly max_sessions: number
  readonly max_translations: number
}

export interface ChangeMyPasswordRequest {
  readonly current_password: string
  readonly new_password: string
}

export interface ChangeProfileRequest {
  readonly name?: string
  readonly vad?: boolean
  readonly mode?: 'partial' | 'final'
  readonly min_buffer?: number
  readonly max_buffer?: number
  readonly buffer_timeout?: number
  readonly max_delay?: number
  readonly max_chars?: number
  readonly max_lines?: number
  readonly punctuation?: boolean
  readonly words?: boolean
  readonly task?: 'transcribe' | 'translate'
  readonly prompt?: string
  readonly hotwords?: ReadonlyArray<string>
}

export interface ChangeTokenRequest {
  readonly name?: string
  readonly is_active?: boolean
}

export interface ChangeUserRequest {
  readonly password?: string
  readonly permissions?: ReadonlyArray<'user_retention' | 'admin'>
  readonly max_sessions?: number
  readonly max_translations?: number
  readonly is_active?: boolean
}

export interface CompleteSetupRequest {
  readonly token: string
  readonly username: string
  readonly password: string
}

export interface CreateLiveRequest {
  readonly model: string
  readonly language: string
  readonly audio_format?: 'raw' | 'hls' | 'rtmp' | 'rtsp' | null
  readonly audio_url?: string | null
  readonly translations?: ReadonlyArray<string> | null
  readonly auto_start?: boolean | null
  readonly live_retention?: boolean | null
  readonly config?: {
    readonly vad?: boolean | null
    readonly mode?: 'partial' | 'final' | null
    readonly min_buffer?: number | null
    readonly max_buffer?: number | null
    readonly buffer_timeout?: number | null
    readonly max_delay?: number | null
    readonly max_chars?: number | null
    readonly max_lines?: number | null
    readonly punctuation?: boolean | null
    readonly words?: boolean | null
    readonly task?: 'transcribe' | 'translate' | null
    readonly prompt?: string | null
    readonly hotwords?: ReadonlyArray<string> | null
  } | null
  readonly background_color?: string | null
  readonly color_text?: string | null
  readonly size_text?: number | null
  readonly listener_token?: string | null
  readonly custom_listener_token?: string | null
}

export interface CreateProfileRequest {
  readonly name: string
  readonly vad?: boolean | null
  readonly mode?: 'partial' | 'final' | null
  readonly min_buffer?: number | null
  readonly max_buffer?: number | null
  readonly buffer_timeout?: number | null
  readonly max_delay?: number | null
  readonly max_chars?: number | null
  readonly max_lines?: number | null
  readonly punctuation?: boolean | null
  readonly words?: boolean | null
  readonly task?: 'transcribe' | 'translate' | null
  readonly prompt?: string | null
  readonly hotwords?: ReadonlyArray<string> | null
}

export interface CreateTokenRequest {
  readonly name: string
  readonly expires_at?: string | null
}

export interface CreateUserRequest {
  readonly username: string
  readonly password: string
  readonly permissions?: ReadonlyArray<'user_retention' | 'admin'> | null
  readonly max_sessions?: number | null
  readonly max_translations?: number | null
}

export interface DamagedEntry {
  readonly id: number
  readonly reason: string
}

export interface EmbedReadiness {
  readonly ready: boolean
}

export interface EngineSettings {
  readonly vad: boolean
  readonly mode: 'partial' | 'final'
  readonly min_buffer: number
  readonly max_buffer: number
  readonly buffer_timeout: number
  readonly max_delay: number
  readonly max_chars: number
  readonly max_lines: number
  readonly punctuation: boolean
  readonly words?: boolean
  readonly task?: 'transcribe' | 'translate'
  readonly prompt?: string
  readonly hotwords?: ReadonlyArray<string>
}

export interface Error {
  readonly detail: string
}

export interface FinishLivesByAudioUrlRequest {
  readonly audio_url: string
}

export interface HistoryEntry {
  readonly id: number
  readonly type: string
  readonly at: string
  readonly actor: string
  readonly correlation_id: string
  readonly causation_id: string
  readonly data: Readonly<Record<string, unknown>>
}

export interface InstalledModels {
  readonly data: ReadonlyArray<Model>
}

export interface Issue {
  readonly type: string
  readonly loc: ReadonlyArray<string | number>
  readonly msg: string
}

export interface IssuedApiToken {
  readonly id: number
  readonly name: string
  readonly token_prefix: string
  readonly is_active: boolean
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly created_at: string
  readonly token: string
}

export interface Issues {
  readonly detail: ReadonlyArray<Issue>
}

export interface Job {
  readonly id: number
  readonly kind: 'pull' | 'verify' | 'check' | 'rebuild'
  readonly subject: string | null
  readonly status: 'running' | 'done' | 'failed' | 'cancelled'
  readonly done: number
  readonly total: number | null
  readonly unit: 'bytes' | 'rows' | 'events'
  readonly detail: string
  readonly result: Readonly<Record<string, unknown>> | null
  readonly actor: string
  readonly process: string | null
  readonly created_at: string
  readonly updated_at: string
}

export interface Language {
  readonly id: number
  readonly iso_639_1: string
  readonly name: string
  readonly active: boolean
  readonly created_at: string
  readonly updated_at: string | null
}

export interface LiveActivity {
  readonly lag: number | null
  readonly listeners: number
  readonly sender_connected: boolean
  readonly audio_seconds: number
  readonly segments: number
  readonly text_until: string | null
}

export interface LiveIntegrity {
  readonly status: 'intact' | 'damaged' | 'unavailable'
  readonly entries: number
  readonly first_position: number | null
  readonly last_position: number | null
  readonly head_hash: string | null
  readonly damaged: ReadonlyArray<DamagedEntry>
  readonly checked_at: string
}

export interface LiveSession {
  readonly id: number
  readonly status: 'pending' | 'active' | 'finished' | 'error'
  readonly live_retention: boolean
  readonly audio_format: 'raw' | 'hls' | 'rtmp' | 'rtsp'
  readonly audio_url: string | null
  readonly auto_start: boolean
  readonly auto_start_pid: number | null
  readonly vram: number
  readonly iframe_html: string | null
  readonly sender_token: string
  readonly listener_token: string
  readonly base_url: string
  readonly relative_path: string
  readonly config: EngineSettings
  readonly model: Model
  readonly language: Language
  readonly translations: ReadonlyArray<TranslationPair>
  readonly created_at: string
  readonly updated_at: string | null
}

export interface Liveness {
  readonly status: 'ok'
}

export interface Load {
  readonly since: string | null
  readonly step: number
  readonly lag_max: ReadonlyArray<number>
  readonly lag_p95: ReadonlyArray<number>
  readonly vram_reserved: ReadonlyArray<number>
  readonly sessions: ReadonlyArray<number>
  readonly listeners: ReadonlyArray<number>
}

export interface LoginRequest {
  readonly username: string
  readonly password: string
}

export interface LogoutRequest {
  readonly everywhere?: boolean | null
}

export interface Message {
  readonly message: string
}

export interface Model {
  readonly id: number
  readonly name: string
  readonly active: boolean
  readonly vram: number
  readonly created_at: string
  readonly updated_at: string | null
}

export interface OwnedApiToken {
  readonly id: number
  readonly name: string
  readonly token_prefix: string
  readonly is_active: boolean
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly created_at: string
  readonly user_id: number
  readonly username: string
}

export interface Pagination {
  readonly total_items: number
  readonly total_pages: number
  readonly current_page: number
  readonly per_page: number
}

export interface PairLanguage {
  readonly id: number
  readonly iso_639_1: string
  readonly name: string
  readonly active: boolean
}

export interface PastAdminLiveSession {
  readonly entry: HistoryEntry
  readonly state: AdminLiveSession
}

export interface PastLiveSession {
  readonly entry: HistoryEntry
  readonly state: LiveSession
}

export interface Profile {
  readonly id: number
  readonly name: string
  readonly vad: boolean
  readonly mode: 'partial' | 'final'
  readonly min_buffer: number
  readonly max_buffer: number
  readonly buffer_timeout: number
  readonly max_delay: number
  readonly max_chars: number
  readonly max_lines: number
  readonly punctuation: boolean
  readonly created_at: string
  readonly updated_at: string | null
  readonly words?: boolean
  readonly task?: 'transcribe' | 'translate'
  readonly prompt?: string
  readonly hotwords?: ReadonlyArray<string>
}

export interface Ready {
  readonly status: 'ok'
  readonly checks: Readonly<Record<string, unknown>>
}

export interface StartJobRequest {
  readonly kind: 'pull' | 'verify' | 'check' | 'rebuild'
  readonly subject?: string | null
  readonly precision?: 'int8' | 'fp32' | 'fp16' | null
  readonly force?: boolean | null
}

export interface SwitchLanguageRequest {
  readonly is_active: boolean
}

export interface SwitchModelRequest {
  readonly is_active: boolean
}

export interface SwitchTranslationRequest {
  readonly is_active: boolean
}

export interface Transcript {
  readonly transcript: ReadonlyArray<TranscriptSegment>
}

export interface TranscriptSegment {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly type: 'transcription' | 'translation'
  readonly language: string
  readonly words?: ReadonlyArray<Word>
}

export interface TranslationPair {
  readonly id: number
  readonly model: string
  readonly active: boolean
  readonly vram: number
  readonly lang_from: PairLanguage
  readonly lang_to: PairLanguage
  readonly created_at: string
  readonly updated_at: string | null
}

export interface Unready {
  readonly status: 'unavailable'
  readonly detail: string
  readonly checks: Readonly<Record<string, unknown>>
}

export interface User {
  readonly id: number
  readonly username: string
  readonly permissions: ReadonlyArray<'user_retention' | 'admin'>
  readonly max_sessions: number
  readonly max_translations: number
  readonly is_active: boolean
  readonly created_at: string
  readonly updated_at: string | null
}

export interface Version {
  readonly version: string
}

export interface Word {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly confidence: number
}

/** What each operation takes, and answers with 200. */
export interface Operations {
  readonly login: {
    readonly request: {
      readonly body: LoginRequest
    }
    readonly answer: BearerToken
  }
  readonly logout: {
    readonly request: {
      readonly body?: LogoutRequest
    }
    readonly answer: Message
  }
  readonly getMe: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: {
      readonly data: User
    }
  }
  readonly changeMyPassword: {
    readonly request: {
      readonly body: ChangeMyPasswordRequest
    }
    readonly answer: Message
  }
  readonly createUser: {
    readonly request: {
      readonly body: CreateUserRequest
    }
    readonly answer: {
      readonly data: User
    }
  }
  readonly listUsers: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<User>
      readonly pagination: Pagination
    }
  }
  readonly changeUser: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly body?: ChangeUserRequest
    }
    readonly answer: {
      readonly data: User
    }
  }
  readonly deleteUser: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly createLive: {
    readonly request: {
      readonly headers?: {
        readonly 'Idempotency-Key'?: string
      }
      readonly body: CreateLiveRequest
    }
    readonly answer: {
      readonly data: LiveSession
    }
  }
  readonly listLives: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
        readonly status?: ReadonlyArray<'pending' | 'active' | 'finished' | 'error'>
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<LiveSession>
      readonly pagination: Pagination
    }
  }
  readonly finishLivesByAudioUrl: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
      readonly body: FinishLivesByAudioUrlRequest
    }
    readonly answer: {
      readonly data: ReadonlyArray<LiveSession>
      readonly pagination: Pagination
    }
  }
  readonly getLive: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: LiveSession
    }
  }
  readonly deleteLive: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly finishLive: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: LiveSession
    }
  }
  readonly getActivity: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: LiveActivity
    }
  }
  readonly getCapacity: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: {
      readonly data: Capacity
    }
  }
  readonly getTranscript: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly query?: {
        readonly format?: 'json' | 'txt' | 'srt' | 'vtt'
        readonly language?: string
        readonly chars_per_line?: number
        readonly lines?: number
      }
    }
    readonly answer: {
      readonly data: Transcript
    } | string
  }
  readonly getHistory: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<HistoryEntry>
      readonly pagination: Pagination
    }
  }
  readonly getHistoryEntry: {
    readonly request: {
      readonly path: {
        readonly id: number
        readonly entry: number
      }
    }
    readonly answer: {
      readonly data: PastLiveSession
    }
  }
  readonly getIntegrity: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: LiveIntegrity
    }
  }
  readonly listProfiles: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<Profile>
      readonly pagination: Pagination
    }
  }
  readonly createProfile: {
    readonly request: {
      readonly body: CreateProfileRequest
    }
    readonly answer: {
      readonly data: Profile
    }
  }
  readonly getProfile: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: Profile
    }
  }
  readonly changeProfile: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly body?: ChangeProfileRequest
    }
    readonly answer: {
      readonly data: Profile
    }
  }
  readonly deleteProfile: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly listTokens: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<ApiToken>
      readonly pagination: Pagination
    }
  }
  readonly createToken: {
    readonly request: {
      readonly body: CreateTokenRequest
    }
    readonly answer: {
      readonly data: IssuedApiToken
    }
  }
  readonly changeToken: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly body?: ChangeTokenRequest
    }
    readonly answer: {
      readonly data: ApiToken
    }
  }
  readonly deleteToken: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly listLanguages: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
        readonly name?: string
        readonly iso_639_1?: string
        readonly model?: string
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<Language>
      readonly pagination: Pagination
    }
  }
  readonly listModels: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
        readonly name?: string
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<Model>
      readonly pagination: Pagination
    }
  }
  readonly listTranslations: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
        readonly lang_from?: string
        readonly lang_to?: string
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<TranslationPair>
      readonly pagination: Pagination
    }
  }
  readonly getVersion: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: Version
  }
  readonly getLiveness: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: Liveness
  }
  readonly getReadiness: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: Ready
  }
  readonly getMetrics: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: string
  }
  readonly completeSetup: {
    readonly request: {
      readonly body: CompleteSetupRequest
    }
    readonly answer: {
      readonly data: User
    }
  }
  readonly showSetupPage: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: string
  }
  readonly showConsole: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: string
  }
  readonly getEmbedReadiness: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: EmbedReadiness
  }
  readonly showEmbedPage: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly query?: {
        readonly background_color?: string
        readonly color_text?: string
        readonly size_text?: number
        readonly language?: string
        readonly controls?: number
      }
    }
    readonly answer: string
  }
  readonly listAllLives: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
        readonly status?: ReadonlyArray<'pending' | 'active' | 'finished' | 'error'>
        readonly user_id?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<AdminLiveSession>
      readonly pagination: Pagination
    }
  }
  readonly finishAnyLive: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: AdminLiveSession
    }
  }
  readonly getAnyLive: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: AdminLiveSession
    }
  }
  readonly getAnyHistory: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<HistoryEntry>
      readonly pagination: Pagination
    }
  }
  readonly getAnyHistoryEntry: {
    readonly request: {
      readonly path: {
        readonly id: number
        readonly entry: number
      }
    }
    readonly answer: {
      readonly data: PastAdminLiveSession
    }
  }
  readonly getAnyIntegrity: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: LiveIntegrity
    }
  }
  readonly switchModel: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly body: SwitchModelRequest
    }
    readonly answer: {
      readonly data: Model
    }
  }
  readonly removeModel: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly rescanModels: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: InstalledModels
  }
  readonly switchLanguage: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly body: SwitchLanguageRequest
    }
    readonly answer: {
      readonly data: Language
    }
  }
  readonly switchTranslation: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
      readonly body: SwitchTranslationRequest
    }
    readonly answer: {
      readonly data: TranslationPair
    }
  }
  readonly removeTranslation: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly listAdminModels: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<AdminModel>
      readonly pagination: Pagination
    }
  }
  readonly listAdminTranslations: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<AdminTranslationPair>
      readonly pagination: Pagination
    }
  }
  readonly listAllTokens: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
        readonly user_id?: number
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<OwnedApiToken>
      readonly pagination: Pagination
    }
  }
  readonly deleteAnyToken: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly getLoad: {
    readonly request: {
      readonly query?: {
        readonly minutes?: number
      }
    }
    readonly answer: {
      readonly data: Load
    }
  }
  readonly startJob: {
    readonly request: {
      readonly body: StartJobRequest
    }
    readonly answer: {
      readonly data: Job
    }
  }
  readonly listJobs: {
    readonly request: {
      readonly query?: {
        readonly skip?: number
        readonly limit?: number
        readonly kind?: ReadonlyArray<'pull' | 'verify' | 'check' | 'rebuild'>
        readonly status?: ReadonlyArray<'running' | 'done' | 'failed' | 'cancelled'>
      }
    }
    readonly answer: {
      readonly data: ReadonlyArray<Job>
      readonly pagination: Pagination
    }
  }
  readonly getJob: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: {
      readonly data: Job
    }
  }
  readonly cancelJob: {
    readonly request: {
      readonly path: {
        readonly id: number
      }
    }
    readonly answer: Message
  }
  readonly getOpenApi: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: Readonly<Record<string, unknown>>
  }
  readonly getAsyncApi: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: Readonly<Record<string, unknown>>
  }
  readonly showDocs: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: string
  }
  readonly showRedoc: {
    readonly request: Readonly<Record<string, never>>
    readonly answer: string
  }
}

export const OPERATIONS = {
  login: { method: 'POST', path: '/login', body: 'application/x-www-form-urlencoded' },
  logout: { method: 'POST', path: '/logout', body: 'application/json' },
  getMe: { method: 'GET', path: '/users/me', body: null },
  changeMyPassword: { method: 'PUT', path: '/users/me/password', body: 'application/json' },
  createUser: { method: 'POST', path: '/users', body: 'application/json' },
  listUsers: { method: 'GET', path: '/users', body: null },
  changeUser: { method: 'PUT', path: '/users/{id}', body: 'application/json' },
  deleteUser: { method: 'DELETE', path: '/users/{id}', body: null },
  createLive: { method: 'POST', path: '/lives', body: 'application/json' },
  listLives: { method: 'GET', path: '/lives', body: null },
  finishLivesByAudioUrl: { method: 'PUT', path: '/lives/finish-by-audio_url', body: 'application/json' },
  getLive: { method: 'GET', path: '/lives/{id}', body: null },
  deleteLive: { method: 'DELETE', path: '/lives/{id}', body: null },
  finishLive: { method: 'PUT', path: '/lives/{id}/finish', body: null },
  getActivity: { method: 'GET', path: '/lives/{id}/activity', body: null },
  getCapacity: { method: 'GET', path: '/capacity', body: null },
  getTranscript: { method: 'GET', path: '/lives/{id}/transcript', body: null },
  getHistory: { method: 'GET', path: '/lives/{id}/history', body: null },
  getHistoryEntry: { method: 'GET', path: '/lives/{id}/history/{entry}', body: null },
  getIntegrity: { method: 'GET', path: '/lives/{id}/integrity', body: null },
  listProfiles: { method: 'GET', path: '/user-live-configs', body: null },
  createProfile: { method: 'POST', path: '/user-live-configs', body: 'application/json' },
  getProfile: { method: 'GET', path: '/user-live-configs/{id}', body: null },
  changeProfile: { method: 'PUT', path: '/user-live-configs/{id}', body: 'application/json' },
  deleteProfile: { method: 'DELETE', path: '/user-live-configs/{id}', body: null },
  listTokens: { method: 'GET', path: '/tokens', body: null },
  createToken: { method: 'POST', path: '/tokens', body: 'application/json' },
  changeToken: { method: 'PUT', path: '/tokens/{id}', body: 'application/json' },
  deleteToken: { method: 'DELETE', path: '/tokens/{id}', body: null },
  listLanguages: { method: 'GET', path: '/languages', body: null },
  listModels: { method: 'GET', path: '/models', body: null },
  listTranslations: { method: 'GET', path: '/translations', body: null },
  getVersion: { method: 'GET', path: '/version', body: null },
  getLiveness: { method: 'GET', path: '/health/live', body: null },
  getReadiness: { method: 'GET', path: '/health/ready', body: null },
  getMetrics: { method: 'GET', path: '/metrics', body: null },
  completeSetup: { method: 'POST', path: '/setup', body: 'application/json' },
  showSetupPage: { method: 'GET', path: '/setup', body: null },
  showConsole: { method: 'GET', path: '/', body: null },
  getEmbedReadiness: { method: 'GET', path: '/embed/ready', body: null },
  showEmbedPage: { method: 'GET', path: '/embed/live/{id}', body: null },
  listAllLives: { method: 'GET', path: '/admin/lives', body: null },
  finishAnyLive: { method: 'PUT', path: '/admin/lives/{id}/finish', body: null },
  getAnyLive: { method: 'GET', path: '/admin/lives/{id}', body: null },
  getAnyHistory: { method: 'GET', path: '/admin/lives/{id}/history', body: null },
  getAnyHistoryEntry: { method: 'GET', path: '/admin/lives/{id}/history/{entry}', body: null },
  getAnyIntegrity: { method: 'GET', path: '/admin/lives/{id}/integrity', body: null },
  switchModel: { method: 'PUT', path: '/admin/models/{id}', body: 'application/json' },
  removeModel: { method: 'DELETE', path: '/admin/models/{id}', body: null },
  rescanModels: { method: 'POST', path: '/admin/rescan', body: null },
  switchLanguage: { method: 'PUT', path: '/admin/languages/{id}', body: 'application/json' },
  switchTranslation: { method: 'PUT', path: '/admin/translations/{id}', body: 'application/json' },
  removeTranslation: { method: 'DELETE', path: '/admin/translations/{id}', body: null },
  listAdminModels: { method: 'GET', path: '/admin/models', body: null },
  listAdminTranslations: { method: 'GET', path: '/admin/translations', body: null },
  listAllTokens: { method: 'GET', path: '/admin/tokens', body: null },
  deleteAnyToken: { method: 'DELETE', path: '/admin/tokens/{id}', body: null },
  getLoad: { method: 'GET', path: '/admin/load', body: null },
  startJob: { method: 'POST', path: '/admin/jobs', body: 'application/json' },
  listJobs: { method: 'GET', path: '/admin/jobs', body: null },
  getJob: { method: 'GET', path: '/admin/jobs/{id}', body: null },
  cancelJob: { method: 'DELETE', path: '/admin/jobs/{id}', body: null },
  getOpenApi: { method: 'GET', path: '/openapi.json', body: null },
  getAsyncApi: { method: 'GET', path: '/asyncapi.json', body: null },
  showDocs: { method: 'GET', path: '/docs', body: null },
  showRedoc: { method: 'GET', path: '/redoc', body: null },
} as const
