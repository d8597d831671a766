import type { Mutant } from './mutant.ts'

const ADMISSION_WORKERS = 'test/unit/domain/admission-workers.test.ts'
const FINISH_LIVES = 'test/unit/application/lives/finish-lives.test.ts'
const LIVES = 'test/e2e/service/sessions/lives.test.ts'
const INVALID_LIVES = 'test/e2e/service/sessions/invalid-lives.test.ts'
const LIMITS = 'test/e2e/service/sessions/lives-limits.test.ts'
const ACCESS = 'test/e2e/service/accounts/access.test.ts'
const BY_URL = 'test/e2e/service/sessions/finish-by-url.test.ts'
const RETENTION = 'test/e2e/service/sessions/retention.test.ts'
const TRANSLATIONS = 'test/e2e/service/sessions/translations.test.ts'
const TIME_LIMITS = 'test/unit/application/lives/time-limits.test.ts'
const CONCURRENCY = 'test/unit/application/log/concurrency.test.ts'

/** Rules of sessions: permissions, capacity, ends and visibility. */
export const liveMutants: ReadonlyArray<Mutant> = [
  {
    file: 'domain/admission/decider.ts',
    before: 'if (sessions >= maxSessions) return',
    after: 'if (sessions > maxSessions) return',
    rows: [60], test: LIMITS,
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'rooms.filter(({ free }) => free >= vram)',
    after: 'rooms.filter(({ free }) => free > vram)',
    rows: [57, 59], test: 'test/e2e/service/sessions/races.test.ts',
  },
  {
    file: 'domain/admission/decider.ts',
    before: 'rooms.filter(({ free }) => free >= vram)',
    after: 'rooms.filter(({ free }) => free >= vram - 1)',
    rows: [59], test: LIMITS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '.filter(({ free }) => free >= vram)',
    after: '.filter(({ free }) => free > vram)',
    rows: ['a session moves to the requested worker'], test: ADMISSION_WORKERS,
  },
  {
    file: 'domain/admission/placement.ts',
    before: '.filter(({ free }) => free >= vram)',
    after: '.filter(({ free }) => free >= vram - 1)',
    rows: ['a session moves to the requested worker'], test: ADMISSION_WORKERS,
  },
  {
    file: 'domain/admission/state.ts',
    before: '(sum, item) => sum + item.vram, 0)',
    after: '(sum, item) => Math.max(sum, item.vram), 0)',
    rows: [104], test: 'test/e2e/service/sessions/lists.test.ts',
  },
  {
    file: 'application/lives/ending.ts',
    before: 'E.map(() => position)(await releaseLive(deps, liveId, origin))',
    after: 'E.map(() => position)(liveId < 0 ? await releaseLive(deps, liveId, origin) : E.right(undefined))',
    rows: ['finish flushes the audio and ends the session'], test: FINISH_LIVES,
  },
  {
    file: 'application/lives/choose-models.ts',
    before: 'candidate.active && candidate.name === name',
    after: 'candidate.name === name',
    rows: [54], test: LIVES,
  },
  {
    file: 'application/lives/choose-models.ts',
    before: ': model.languages.includes(language)',
    after: ': model.languages.length > 0',
    rows: [54], test: LIVES,
  },
  {
    file: 'application/lives/choose-models.ts',
    before: '(sum, pair) => sum + pair.vram, model.vram)',
    after: '(sum, pair) => Math.max(sum, pair.vram), model.vram)',
    rows: [56], test: TRANSLATIONS,
  },
  {
    file: 'application/lives/commands/create-live.ts',
    before: 'if (request.translations.length > maximum)',
    after: 'if (request.translations.length >= maximum)',
    rows: [61], test: TRANSLATIONS,
  },
  {
    file: 'application/lives/commands/requested-live.ts',
    before: "retention: request.retention && caller.permissions.includes('user_retention'),",
    after: 'retention: request.retention,',
    rows: [69], test: LIVES,
  },
  {
    file: 'application/lives/commands/requested-live.ts',
    before: 'const listenerToken = request.listenerToken ?? newSecret()',
    after: 'const listenerToken = request.listenerToken ?? senderToken',
    rows: [63], test: LIVES,
  },
  {
    file: 'application/lives/listener-token.ts',
    before: "known.role === 'listener' && known.userId === userId",
    after: "known.role === 'listener'",
    rows: [65], test: LIMITS,
  },
  {
    file: 'application/lives/listener-token.ts',
    before: "known.role === 'listener' && known.userId === userId",
    after: 'known.userId === userId',
    rows: [66], test: LIMITS,
  },
  {
    file: 'application/lives/commands/create-live-once.ts',
    before: 'current.use.requestHash !== requestHash',
    after: "current.use.requestHash === ''",
    rows: [76], test: 'test/e2e/service/sessions/idempotency.test.ts',
  },
  {
    file: 'projections/lives/queries.ts',
    before: 'O.isNone(found.right) || found.right.value.userId !== userId',
    after: 'O.isNone(found.right)',
    rows: [36, 84], test: ACCESS,
  },
  {
    file: 'projections/lives/queries.ts',
    before: 'const everyStatus = statuses.length === LIVE_STATUSES.length',
    after: 'const everyStatus = statuses.length >= 1',
    rows: [80], test: LIVES,
  },
  {
    file: 'projections/lives/queries.ts',
    before: 'requested.length === 0 || requested.includes(status)',
    after: 'requested.length === 0 || requested[0] === status',
    rows: [80], test: LIVES,
  },
  {
    file: 'application/lives/load-live.ts',
    before: 'exists(state) && state.created.userId === userId',
    after: 'exists(state) && userId > 0',
    rows: [36, 85], test: ACCESS,
  },
  {
    file: 'application/lives/commands/finish-lives-by-audio-url.ts',
    before: ' && state.created.audioUrlHash === hash)',
    after: " && hash !== '')",
    rows: [90], test: BY_URL,
  },
  {
    file: 'application/lives/commands/finish-lives-by-audio-url.ts',
    before: 'mine.toSorted((a, b) => b - a)',
    after: 'mine.toSorted((a, b) => a - b)',
    rows: [90], test: BY_URL,
  },
  {
    file: 'application/lives/commands/finish-lives-by-audio-url.ts',
    before: 'traverseConcurrently(ENDS_AT_ONCE, asked, async',
    after: 'traverseConcurrently(ENDS_AT_ONCE, asked.slice(skip, skip + limit), async',
    rows: [90], test: BY_URL,
  },
  {
    file: 'application/lives/commands/finish-lives-by-audio-url.ts',
    before: "deps.credentials.keyedHash('audio-url', audioUrl)",
    after: "deps.credentials.keyedHash('audio-url', audioUrl.replace(/\\/$/, ''))",
    rows: [96], test: BY_URL,
  },
  {
    file: 'application/lives/owned-live.ts',
    before: 'if (!mayRead(created.data.userId)) return E.left(liveNotFound)',
    after: '',
    rows: [36, 87], test: RETENTION,
  },
  {
    file: 'application/lives/queries/get-transcript.ts',
    before: '!live.right.created.retention || isExpired(live.right)',
    after: 'isExpired(live.right)',
    rows: [87], test: RETENTION,
  },
  {
    file: 'projections/lives/projection.ts',
    before: "status: 'finished', vram: 0, updatedAt: event.data.at }",
    after: "status: 'finished', updatedAt: event.data.at }",
    rows: [83], test: LIVES,
  },
  {
    file: 'projections/lives/projection.ts',
    before: "status: 'finished', vram: 0, updatedAt: event.data.at }",
    after: "status: 'finished', vram: 0 }",
    rows: [13], test: LIVES,
  },
  {
    file: 'domain/live/settings.ts',
    before: 'max_delay: boundedNumber(0.5, 60),',
    after: 'max_delay: boundedNumber(0.5, 61),',
    rows: [71], test: INVALID_LIVES,
  },
  {
    file: 'application/lives/policies/reconcile-lives.ts',
    before: 'if (ending.has(liveId)) return',
    after: '',
    rows: ['a limited number of expiring sessions finishes in parallel'], test: TIME_LIMITS,
  },
  {
    file: 'application/lives/policies/reconcile-lives.ts',
    before: 'if (!stopped) await attempt(() => limits.end',
    after: 'await attempt(() => limits.end',
    rows: ['stopping the reconciler waits for the ends that have begun'], test: TIME_LIMITS,
  },
  {
    file: 'application/lives/policies/reconcile-lives.ts',
    before: '      await Promise.all(ending.values())\n',
    after: '',
    rows: ['stopping the reconciler waits for the ends that have begun'], test: TIME_LIMITS,
  },
  {
    file: 'application/concurrency.ts',
    before: 'if (failure !== null) return failure',
    after: '',
    rows: ['after a failure no further task begins, and the results are in the order of the items'], test: CONCURRENCY,
  },
]
