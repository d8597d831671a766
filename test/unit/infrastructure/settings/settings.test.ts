import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { ROLES } from '../../../../application/ports/members.ts'
import { readSettings, takeoverGraceOf } from '../../../../infrastructure/settings/settings.ts'
import { SETTINGS_TABLE } from '../../../../infrastructure/settings/table.ts'

const errorsOf = (env: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const settings = readSettings(env)
  return E.isLeft(settings) ? settings.left : []
}

test('with an empty environment every setting has the default of the launch contract', (t) => {
  const settings = readSettings({ PATH: '/bin', STENOLOG_TEST_ANYTHING: 'x', STENOLOG_HOST: '' })
  t.deepEqual(
    settings,
    E.right({
      host: '127.0.0.1',
      port: 8080,
      dataDir: './data',
      adminUsername: null,
      adminPassword: null,
      adminPasswordFile: null,
      masterKeyFile: null,
      vramMb: null,
      overcommit: 1,
      eventstoreUrl: null,
      mongoUrl: null,
      modelsDir: null,
      hubUrl: null,
      publicUrl: null,
      basePath: null,
      allowedHosts: null,
      trustedProxies: null,
      corsOrigins: ['*'],
      wsOrigins: ['*'],
      frameAncestors: ['*'],
      audioUrlAllowCidrs: null,
      sourceIsolation: null,
      jwtTtl: 86_400_000,
      pendingTimeout: 3_600_000,
      maxDuration: 86_400_000,
      idleTimeout: 600_000,
      retentionMax: 0,
      drainTimeout: 30_000,
      reconnectGrace: 0,
      rateLimit: 50,
      dailyBudget: 1_000_000,
      compatStrict: false,
      role: ROLES,
      nodeName: null,
      internalHost: null,
      internalPort: 0,
      internalUrl: null,
      takeoverGrace: null,
      streamPrefix: null,
      leaseTtl: 5000,
      metricsToken: null,
      logLevel: 'info',
    }),
  )
})

test('values are parsed by the type of their setting', (t) => {
  const settings = readSettings({
    STENOLOG_PORT: '0',
    STENOLOG_JWT_TTL: '90s',
    STENOLOG_DRAIN_TIMEOUT: '0',
    STENOLOG_COMPAT_STRICT: '1',
    STENOLOG_RATE_LIMIT: '0',
    STENOLOG_VRAM_MB: '1400',
    STENOLOG_OVERCOMMIT: '1.5',
    STENOLOG_PUBLIC_URL: 'https://captions.example.org/steno/',
    STENOLOG_BASE_PATH: '/steno/',
    STENOLOG_ALLOWED_HOSTS: 'a.example, b.example:81,[::1]',
    STENOLOG_CORS_ORIGINS: 'https://a.example,http://localhost:3000',
    STENOLOG_PENDING_TIMEOUT: '1h',
    STENOLOG_MAX_DURATION: '1440m',
    STENOLOG_ADMIN_USERNAME: 'root',
    STENOLOG_ADMIN_PASSWORD: 'a password',
    STENOLOG_TRUSTED_PROXIES: '127.0.0.1/32, fd00::/8', STENOLOG_FRAME_ANCESTORS: 'https://a.example',
    STENOLOG_WS_ORIGINS: 'null,https://a.example',
  })
  if (E.isLeft(settings)) return t.fail(settings.left.join('\n'))
  const { right } = settings
  t.deepEqual(
    [right.port, right.jwtTtl, right.drainTimeout, right.compatStrict, right.rateLimit, right.vramMb, right.overcommit],
    [0, 90_000, 0, true, 0, 1400, 1.5],
  )
  t.deepEqual(
    [right.publicUrl, right.basePath, right.allowedHosts],
    ['https://captions.example.org/steno', '/steno', ['a.example', 'b.example:81', '[::1]']],
  )
  t.deepEqual(right.corsOrigins, ['https://a.example', 'http://localhost:3000'])
  t.deepEqual(
    [right.trustedProxies, right.frameAncestors, right.wsOrigins],
    [['127.0.0.1/32', 'fd00::/8'], ['https://a.example'], ['null', 'https://a.example']],
  )
})

test('an unknown setting name is an error', (t) => {
  t.deepEqual(errorsOf({ STENOLOG_PROT: '8080' }), ['Unknown setting STENOLOG_PROT. Did you mean STENOLOG_PORT?'])
  t.deepEqual(errorsOf({ STENOLOG_MODEL_DIR: 'x' }), [
    'Unknown setting STENOLOG_MODEL_DIR. Did you mean STENOLOG_MODELS_DIR?',
  ])
  t.deepEqual(errorsOf({ stenolog_port: 'x', STENOLOGPORT: 'x' }), [])
})

test('all errors are reported at once, without secrets', (t) => {
  const errors = errorsOf({
    STENOLOG_PORT: '70000',
    STENOLOG_JWT_TTL: '0s',
    STENOLOG_DRAIN_TIMEOUT: '5 minutes',
    STENOLOG_PROT: '1',
    STENOLOG_: 'x',
    STENOLOG_LOG_LEVEL: 'loud',
    STENOLOG_COMPAT_STRICT: 'yes',
    STENOLOG_PUBLIC_URL: 'https://user:hunter2@h',
    STENOLOG_MONGO_URL: 'mongo://u:hunter2@h',
    STENOLOG_toString: '1',
  })
  t.deepEqual(errors, [
    'Unknown setting STENOLOG_PROT. Did you mean STENOLOG_PORT?',
    'Unknown setting STENOLOG_.',
    'Unknown setting STENOLOG_toString.',
    'STENOLOG_PORT should be an integer from 0 to 65535, not "70000"',
    'STENOLOG_MONGO_URL should start with mongodb:// or mongodb+srv://',
    'STENOLOG_PUBLIC_URL should be an http or https URL without credentials, query and fragment',
    'STENOLOG_JWT_TTL should be greater than 0, not "0s"',
    'STENOLOG_DRAIN_TIMEOUT should be a duration like 30s, 60m or 24h, not "5 minutes"',
    'STENOLOG_COMPAT_STRICT should be 0 or 1, not "yes"',
    'STENOLOG_LOG_LEVEL should be one of fatal, error, warn, info, debug, trace, silent, not "loud"',
  ])
})

test('a wrong value is shown in the error unless it may be secret', (t) => {
  t.deepEqual(errorsOf({ STENOLOG_PORT: 'http' }), ['STENOLOG_PORT should be an integer from 0 to 65535, not "http"'])
  for (const secret of [
    'https://u:hunter2@h',
    'ftp://h?key=hunter2',
    'ftp://h#hunter2',
    'hunter2'.repeat(9),
    'hunter2\u001b[2J',
  ])
    for (const name of ['PUBLIC_URL', 'PORT', 'MONGO_URL'])
      t.notRegex(errorsOf({ [`STENOLOG_${name}`]: secret }).join(''), /hunter2|\\u001b|\p{Cc}/u)
  t.notRegex(errorsOf({ STENOLOG_MONGO_URL: 'hunter2' }).join(''), /hunter2/)
})

const SERVERS = {
  STENOLOG_EVENTSTORE_URL: 'esdb://u:p@h', STENOLOG_MONGO_URL: 'mongodb://h', STENOLOG_MASTER_KEY_FILE: 'k',
}

test('a process may run a part of the service only when both stores are on servers', (t) => {
  const worker = { STENOLOG_ROLE: 'worker' }
  const refusal = [
    'STENOLOG_ROLE needs STENOLOG_EVENTSTORE_URL and STENOLOG_MONGO_URL: set both, or use STENOLOG_ROLE=all',
  ]
  t.deepEqual(errorsOf(worker), refusal)
  const { STENOLOG_EVENTSTORE_URL: _, ...half } = SERVERS
  t.deepEqual(errorsOf({ ...half, ...worker }), refusal)
  t.deepEqual(errorsOf({ STENOLOG_ROLE: 'projector, worker,api' }), [])
  const settings = readSettings({ ...SERVERS, STENOLOG_ROLE: 'projector, api' })
  t.deepEqual(E.isRight(settings) && settings.right.role, ['api', 'projector'])
})

test('a session outlives its worker only when another worker can take it over', (t) => {
  const graceOf = (env: Readonly<Record<string, string>>) => {
    const settings = readSettings(env)
    return E.isRight(settings) ? takeoverGraceOf(settings.right) : settings.left
  }
  t.is(graceOf({}), 0)
  t.is(graceOf({ STENOLOG_TAKEOVER_GRACE: '9s' }), 0)
  t.is(graceOf(SERVERS), 60_000)
  t.is(graceOf({ ...SERVERS, STENOLOG_TAKEOVER_GRACE: '9s' }), 9000)
})

test('the defaults of the table are valid values', (t) => {
  const defaults = Object.entries(SETTINGS_TABLE)
    .filter(([, { fallback }]) => fallback !== null)
    .map(([name, { defaultText }]) => [`STENOLOG_${name}`, defaultText])
  t.deepEqual(errorsOf(Object.fromEntries(defaults) as Record<string, string>), [])
})

test('an admin name must be one that POST /users/ accepts', (t) => {
  const named = (username: string) =>
    errorsOf({ STENOLOG_ADMIN_USERNAME: username, STENOLOG_ADMIN_PASSWORD: 'a password' })
  t.deepEqual(named('\u{1F3A7}'.repeat(100)), [])
  t.deepEqual(named('caf\ufffd'), ['STENOLOG_ADMIN_USERNAME is not text in UTF-8'])
  t.deepEqual(named('x'.repeat(101)), ['STENOLOG_ADMIN_USERNAME should have at most 100 characters'])
  for (const username of ['ro\not', 'root\u0007', '\u{2028}', '\u{D800}'])
    t.deepEqual(named(username), ['STENOLOG_ADMIN_USERNAME should not contain control or invisible characters'])
})

test('the settings of the first admin must be given together', (t) => {
  t.deepEqual(
    errorsOf({ STENOLOG_ADMIN_USERNAME: 'root' }),
    ['STENOLOG_ADMIN_USERNAME needs a password: set STENOLOG_ADMIN_PASSWORD_FILE or STENOLOG_ADMIN_PASSWORD'],
  )
  t.deepEqual(errorsOf({ STENOLOG_ADMIN_PASSWORD: 'secret pw' }), [
    'STENOLOG_ADMIN_USERNAME is not set: the first administrator needs a name and a password',
  ])
  t.is(
    errorsOf({ STENOLOG_ADMIN_USERNAME: 'root', STENOLOG_ADMIN_PASSWORD: 'a', STENOLOG_ADMIN_PASSWORD_FILE: 'b' })
      .length,
    1,
  )
})

test('keys in MongoDB need a master key file', (t) => {
  t.deepEqual(errorsOf({ STENOLOG_MONGO_URL: 'mongodb://h' }), [
    'STENOLOG_MONGO_URL needs STENOLOG_MASTER_KEY_FILE: create a key once with "head -c 32 /dev/urandom > master.key"',
  ])
  t.deepEqual(errorsOf({ STENOLOG_MONGO_URL: 'mongodb+srv://u:p@h/d?tls=true', STENOLOG_MASTER_KEY_FILE: '/k' }), [])
})

test('an EventStoreDB needs a master key file, and its URL is validated', (t) => {
  const url = (text: string) => errorsOf({ STENOLOG_EVENTSTORE_URL: text, STENOLOG_MASTER_KEY_FILE: 'k' })
  t.deepEqual(url('esdb://user:pass@h'), [])
  t.regex(url('esdb://h')[0] ?? '', /^STENOLOG_EVENTSTORE_URL should contain user:password@/)
  t.regex(
    errorsOf({ STENOLOG_EVENTSTORE_URL: 'esdb://u:p@h' })[0] ?? '',
    /^STENOLOG_EVENTSTORE_URL needs STENOLOG_MASTER_KEY_FILE: /,
  )
})

test('lists, hosts and origins are validated', (t) => {
  for (const [name, values] of [
    ['ALLOWED_HOSTS', ['a b', 'http://a', 'a:b', ',', 'a,,b']],
    ['CORS_ORIGINS', ['a.example', 'https://a.example/', 'https://a.example/x', 'null']],
    ['TRUSTED_PROXIES', ['10.0.0.0', '10.0.0.0/33', '300.0.0.0/8', '::1/129']],
    ['BASE_PATH', ['steno', '/', '//x', '/a?b']],
    ['PUBLIC_URL', ['h', 'ftp://h', 'https://h?x']],
    ['FRAME_ANCESTORS', ['null', 'a.example', "'none'", 'https://a.example; script-src *']],
    ['VRAM_MB', ['0', '-1', '1.5', 'all']],
    ['OVERCOMMIT', ['-1', '101', '1e1', '.5', 'no']],
    ['ROLE', ['All', 'x', 'api,']],
    ['INTERNAL_URL', ['h', 'http://h:1', 'h:1/x', 'h:port']],
    ['STREAM_PREFIX', ['A', '-a', 'a.b', 'a/b', 'x'.repeat(32)]],
    ['METRICS_TOKEN', ['short', 'with a space in it all']],
    ['NODE_NAME', ['-a', 'a b', 'a/b', 'ä', 'x'.repeat(64)]],
    ['LEASE_TTL', ['0', '2s', '61s', '2m', '5']],
  ] as const)
    for (const value of values) {
      const [error, ...more] = errorsOf({ [`STENOLOG_${name}`]: value })
      t.regex(error ?? '', new RegExp(`^STENOLOG_${name} should be `), value)
      t.deepEqual(more, [])
    }
})
