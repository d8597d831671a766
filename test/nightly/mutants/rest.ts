import type { Mutant } from './mutant.ts'

const REFERENCE = 'test/e2e/service/interface/reference-data.test.ts'
const LIVES = 'test/e2e/service/sessions/lives.test.ts'
const INVALID_LIVES = 'test/e2e/service/sessions/invalid-lives.test.ts'
const ACCESS = 'test/e2e/service/accounts/access.test.ts'
const KEYS = 'test/e2e/service/accounts/api-keys.test.ts'
const TOKENS = 'test/e2e/service/accounts/tokens.test.ts'
const LOGOUT = 'test/e2e/service/accounts/log-out.test.ts'
const BY_URL = 'test/e2e/service/sessions/finish-by-url.test.ts'
const PAGING = 'test/e2e/service/interface/paging.test.ts'
const CONVENTIONS = 'test/e2e/service/interface/conventions.test.ts'
const BODIES = 'test/e2e/service/interface/request-bodies.test.ts'

/** The HTTP layer: pages, filters, validation, credentials and representations. */
export const restMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/users/commands/log-out.ts',
    before: '    if (!everywhere) return await endToken(deps, caller)',
    after: '    if (!everywhere) return E.right(undefined)',
    rows: [160], test: LOGOUT,
  },
  {
    file: 'domain/user/decider.ts',
    before: "{ type: 'LoginsEnded', data: { ...common, generation: user.generation + 1 } }",
    after: "{ type: 'LoginsEnded', data: { ...common, generation: user.generation } }",
    rows: [161], test: LOGOUT,
  },
  {
    file: 'application/jobs/jobs.ts',
    before: "await running.recordEnd(job.id, { status: 'failed', detail: INTERRUPTED })",
    after: 'void job',
    rows: [171], test: 'test/e2e/service/sessions/jobs.test.ts',
  },
  {
    file: 'interfaces/http/codecs/presenters.ts',
    before: 'total_pages: Math.ceil(page.total / query.limit),',
    after: 'total_pages: Math.floor(page.total / query.limit),',
    rows: [20], test: TOKENS,
  },
  {
    file: 'interfaces/http/codecs/presenters.ts',
    before: 'Math.floor(query.skip / query.limit) + 1,',
    after: 'Math.floor(query.skip / query.limit),',
    rows: [20], test: TOKENS,
  },
  {
    file: 'interfaces/http/codecs/presenters.ts',
    before: 'items: items.slice(query.skip, query.skip + query.limit),',
    after: 'items: items.slice(query.skip),',
    rows: [18], test: PAGING,
  },
  {
    file: 'interfaces/http/codecs/presenters.ts',
    before: 'relative_path: `/ws/live/${live.id}`,',
    after: 'relative_path: `/ws/live/${live.id}/`,',
    rows: [78], test: LIVES,
  },
  {
    file: 'interfaces/http/codecs/request-codecs.ts',
    before: 'limit: Math.min(query.limit, MAX_LIMIT)',
    after: 'limit: query.limit',
    rows: [18], test: PAGING,
  },
  {
    file: 'interfaces/http/codecs/request-codecs.ts',
    before: 'limit: lastValue(optional(integerText(1, Infinity), 100)),',
    after: 'limit: lastValue(optional(integerText(0, Infinity), 100)),',
    rows: [19], test: PAGING,
  },
  {
    file: 'interfaces/http/codecs/request-codecs.ts',
    before: 'const MAX_SKIP = 2 ** 31 - 1',
    after: 'const MAX_SKIP = 2 ** 31',
    rows: [19], test: PAGING,
  },
  {
    file: 'interfaces/http/codecs/request-codecs.ts',
    before: 'export const loginForm = members({ username: sentText, password: sentText })',
    after: "export const loginForm = members({ username: sentText, password: optional(sentText, '') })",
    rows: [29], test: ACCESS,
  },
  {
    file: 'interfaces/http/codecs/request-codecs.ts',
    before: 'export const audioUrlBody = members({ audio_url: audioUrl })',
    after: "export const audioUrlBody = members({ audio_url: optional(audioUrl, '') })",
    rows: [95], test: BY_URL,
  },
  {
    file: 'interfaces/http/routes/reference.ts',
    before: 'matches(query.name, name) && matches(query.iso_639_1, iso)',
    after: 'matches(query.name, name) || matches(query.iso_639_1, iso)',
    rows: [38], test: REFERENCE,
  },
  {
    file: 'interfaces/http/routes/reference.ts',
    before: 'filter === null || filter === value',
    after: 'filter === null || filter.toLowerCase() === value.toLowerCase()',
    rows: [38], test: REFERENCE,
  },
  {
    file: 'interfaces/http/routes/reference.ts',
    before: 'catalogue.models().filter(({ name }) => matches(query.name, name))',
    after: 'catalogue.models().filter(({ name, active }) => active && matches(query.name, name))',
    rows: [40, 44], test: REFERENCE,
  },
  {
    file: 'interfaces/http/routes/reference.ts',
    before: 'matches(query.lang_from, from) && matches(query.lang_to, to)',
    after: 'matches(query.lang_from, to) && matches(query.lang_to, from)',
    rows: [43], test: 'test/e2e/service/sessions/translations.test.ts',
  },
  {
    file: 'interfaces/http/routes/reference.ts',
    before: 'E.right({ version: INTERFACE_VERSION })',
    after: 'E.right({ version: INTERFACE_VERSION.slice(0, 3) })',
    rows: [122], test: REFERENCE,
  },
  {
    file: 'interfaces/http/route-table.ts',
    before: "new Set(['', '/api/v1', basePath ?? ''])",
    after: "new Set(['', basePath ?? '/api/v1'])",
    rows: [1], test: 'test/e2e/service/sockets/connecting.test.ts',
  },
  {
    file: 'interfaces/http/app.ts',
    before: 'const router = new Router({ sensitive: true })',
    after: 'const router = new Router({ sensitive: true, strict: true })',
    rows: [2], test: CONVENTIONS,
  },
  {
    file: 'interfaces/http/app.ts',
    before: 'refuse(ctx, allow.length === 0 ? ',
    after: 'refuse(ctx, allow.length >= 0 ? ',
    rows: [9], test: CONVENTIONS,
  },
  {
    file: 'interfaces/http/clients/links.ts',
    before: 'return allowedHosts === null && UNSPECIFIED.has(host) &&',
    after: 'return',
    rows: [77], test: LIVES,
  },
  {
    file: 'interfaces/http/body.ts',
    before: "readerOf(TYPES.json, '64kb')",
    after: "readerOf(TYPES.json, '1mb')",
    rows: [10], test: BODIES,
  },
  {
    file: 'interfaces/http/codecs/issues.ts',
    before: "return { type: 'missing', loc, msg: 'Field required' }",
    after: "return { type: 'missing', loc: [part], msg: 'Field required' }",
    rows: [49], test: INVALID_LIVES,
  },
  {
    file: 'interfaces/http/codecs/issues.ts',
    before: '  return { type, loc, msg }',
    after: '  return { type, loc, msg: `${msg}: ${JSON.stringify(error.value)}` }',
    rows: [7], test: BODIES,
  },
  {
    file: 'interfaces/http/codecs/validation.ts',
    before: '/^-?\\d+$/.test(u)',
    after: '/^-?[\\d.]+$/.test(u)',
    rows: [11], test: ACCESS,
  },
  {
    file: 'interfaces/http/errors.ts',
    before: "NotAuthenticated: { status: 401, detail: () => 'Not authenticated', headers: CHALLENGE },",
    after: "NotAuthenticated: { status: 401, detail: () => 'Not authenticated' },",
    rows: [25], test: ACCESS,
  },
  {
    file: 'interfaces/http/access.ts',
    before: 'if (sent.authorization === undefined) {',
    after: 'if (sent.authorization === undefined || sent.apiKey !== undefined) {',
    rows: [31], test: KEYS,
  },
  {
    file: 'interfaces/http/access.ts',
    before: '/^bearer +(\\S+) *$/i',
    after: '/^Bearer +(\\S+) *$/',
    rows: [27], test: ACCESS,
  },
  {
    file: 'interfaces/http/access.ts',
    before: "if (caller.right.credential !== 'jwt') return",
    after: "if (caller.right.credential === 'operator') return",
    rows: [121], test: KEYS,
  },
  {
    file: 'interfaces/http/access.ts',
    before: "access === 'login' || caller.right.permissions.includes('admin')",
    after: "access === 'login' || access === 'admin'",
    rows: [62], test: ACCESS,
  },
  {
    file: 'interfaces/http/codecs/settings-codec.ts',
    before: 'max_lines: given.max_lines ?? DEFAULT_ENGINE_SETTINGS.max_lines,',
    after: 'max_lines: given.max_lines ?? DEFAULT_ENGINE_SETTINGS.max_chars,',
    rows: [70], test: LIVES,
  },
  {
    file: 'interfaces/http/codecs/profile-codecs.ts',
    before: 'max_delay: omittable(settingMembers.max_delay),',
    after: 'max_delay: settingFields.max_delay,',
    rows: [110], test: 'test/e2e/service/accounts/profiles.test.ts',
  },
  {
    file: 'interfaces/http/codecs/token-codecs.ts',
    before: 'last_used_at: token.lastUsedAt,',
    after: 'last_used_at: token.createdAt,',
    rows: [33], test: KEYS,
  },
  {
    file: 'interfaces/http/codecs/create-live-codec.ts',
    before: 'export const audioUrl = boundedString(0, 2048)',
    after: 'export const audioUrl = boundedString(0, 4096)',
    rows: [53], test: INVALID_LIVES,
  },
  {
    file: 'interfaces/http/codecs/create-live-codec.ts',
    before: "return { at: 'audio_url' }",
    after: 'return null',
    rows: [51], test: INVALID_LIVES,
  },
  {
    file: 'interfaces/http/codecs/create-live-codec.ts',
    before: '  language: name,',
    after: "  language: optional(name, 'en'),",
    rows: [49], test: INVALID_LIVES,
  },
]
