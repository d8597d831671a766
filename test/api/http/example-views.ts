import type { ModelDetails } from '../../../application/catalogue/queries/list-installed-models.ts'
import type { Job } from '../../../application/jobs/job.ts'
import type { LiveIntegrity } from '../../../application/lives/queries/get-integrity.ts'
import type { HistoryEntry } from '../../../application/lives/queries/history-entries.ts'
import type { Catalogue, Language, Model, TranslationPair } from '../../../application/ports/catalogue.ts'
import type { ApiTokenView, LiveView, ProfileView, UserView } from '../../../application/ports/read-models.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'

/** The creation time of every example. */
export const AT = '2026-11-21T09:30:00.123456+00:00'

export const language = (id: number, iso: string, name: string): Language => ({
  id, iso, name, active: true, createdAt: AT, updatedAt: null,
})
export const model = (id: number, name: string): Model => ({
  id, name, active: true, vram: 1000, createdAt: AT, updatedAt: null,
  languages: ['en'], findsLanguage: false, translates: false, hasWords: true, takesVocabulary: false,
})

export const pair: TranslationPair = {
  id: 3,
  model: 'mt-en-fr',
  active: true,
  vram: 400,
  from: 'en',
  to: 'fr',
  createdAt: AT,
  updatedAt: null,
}

export const catalogue: Catalogue = {
  models: () => [model(1, 'tiny'), model(2, 'large-v3')],
  languages: () => [language(1, 'en', 'English'), language(2, 'fr', 'French')],
  furtherLanguages: () => [],
  translations: () => [pair],
}

export const liveView = (id: number, members: Partial<LiveView> = {}): LiveView => ({
  id,
  userId: 7,
  status: 'pending',
  worker: 'local',
  model: { id: 1, name: 'tiny', vram: 1000 },
  language: 'en',
  translations: [{ id: 3, model: 'mt-en-fr', to: 'fr', vram: 400 }],
  audioFormat: 'raw',
  audioUrl: null,
  audioUrlHash: null,
  autoStart: false,
  autoStartPid: null,
  retention: false,
  vram: 1400,
  config: DEFAULT_ENGINE_SETTINGS,
  display: null,
  senderToken: 'sender-secret',
  listenerToken: 'listener-secret',
  createdAt: AT,
  updatedAt: null,
  ...members,
})

export const userView = (id: number, username: string): UserView => ({
  id, username, permissions: [], maxSessions: 10, maxTranslations: 5, isActive: true, createdAt: AT, updatedAt: null,
})

export const profileView = (id: number, name: string): ProfileView => ({
  id, name, settings: DEFAULT_ENGINE_SETTINGS, createdAt: AT, updatedAt: null,
})

export const tokenView = (id: number): ApiTokenView => ({
  id,
  userId: 7,
  name: 'ci',
  prefix: 'lt_abcdefghijkl',
  isActive: true,
  expiresAt: null,
  lastUsedAt: null,
  createdAt: AT,
})

export const job: Job = {
  id: 7,
  kind: 'pull',
  subject: 'base',
  status: 'running',
  progress: { done: 5, total: 10, detail: 'config.json' },
  result: null,
  actor: 'user:1',
  process: 'local',
  createdAt: AT,
  updatedAt: AT,
}

export const details: ModelDetails = {
  installed: true,
  ships: false,
  loads: null,
  precision: 'int8',
  source: 'someone/tiny',
  bytes: 1000,
  measured: true,
  openLives: 1,
}

export const entry: HistoryEntry = {
  id: 1, type: 'LiveStarted', at: AT, actor: 'user:7', correlationId: 'request', causationId: 'command', data: {},
}

export const integrity: LiveIntegrity = {
  status: 'intact', rows: 1, first: 12, last: 12, headHash: 'ab', damaged: [], checkedAt: AT,
}
