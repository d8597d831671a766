import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { issueToken } from '../../support/service/api-tokens.ts'
import type { Client } from '../../support/service/client.ts'
import { passwordOf, startTestService, type TestService } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'

/** Path of the Python program schemathesis (`pip install schemathesis`), from the setting or found in PATH. */
const SCHEMATHESIS =
  process.env['STENOLOG_TEST_SCHEMATHESIS'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'schemathesis'))
    .find((path) => existsSync(path)) ??
  'schemathesis'

/** Number of requests for each operation of the API. */
const EXAMPLES = process.env['STENOLOG_TEST_EXAMPLES'] ?? '200'

/** Findings that are intended, as the code of a check and an operation. */
const INTENDED = new Set([
  // A schema cannot express these rules: order of buffers, future dates, subjects of jobs, reused idempotency keys.
  'ST202 POST /lives',
  'ST202 POST /tokens',
  'ST202 POST /admin/jobs',
  'ST202 POST /user-live-configs',
  'ST202 PUT /user-live-configs/{id}',
  // A well-formed wrong password gets the declared 400.
  'ST202 PUT /users/me/password',
  // Stateful phases reach objects that must stay: models of the project, and the last administrator.
  'ST202 DELETE /admin/models/{id}',
  'ST202 DELETE /admin/translations/{id}',
  'ST202 DELETE /users/{id}',
  'ST202 PUT /users/{id}',
])

/** With an API key, schemathesis takes the declared 403 of operations for logins only as a missing credential. */
const isIntended = (name: string, caller: string): boolean =>
  INTENDED.has(name) || (caller === 'an API key' && name.startsWith('ST203 '))

/** Number of extra accounts. Random changes of users mostly hit them, so the account of the test survives. */
const OTHERS = 12

interface Report {
  readonly complete: boolean
  readonly errors: ReadonlyArray<unknown>
  readonly failures: ReadonlyArray<{
    readonly code: string
    readonly title: string
    readonly operations: ReadonlyArray<string>
  }>
}

/** No hub answers at this address, so the model pulls of schemathesis fail at once. */
const HUB_URL = 'http://127.0.0.1:9'
const BASE_PATH = '/steno'

const bearer = ({ token }: Client): ReadonlyArray<string> => ['-H', `Authorization: Bearer ${token ?? ''}`]

interface Run {
  readonly credentials: (service: TestService) => Promise<ReadonlyArray<string>>
  readonly settings?: Readonly<Record<string, string>>
  /** Only `POST /lives`, with a model and a language that are installed. */
  readonly isNarrowed?: boolean
}

const asAdmin = async (service: TestService) => bearer(await service.user('tester', { permissions: ['admin'] }))

const RUNS: Readonly<Record<string, Run>> = {
  'an administrator': { credentials: asAdmin },
  'a plain user': { credentials: async (service) => bearer(await service.user('plain')) },
  'an API key': {
    credentials: async (service) => ['-H', `X-API-Key: ${(await issueToken(await service.user('keyholder'))).token}`],
  },
  nobody: { credentials: async () => [] },
  'an administrator with COMPAT_STRICT and BASE_PATH': {
    credentials: asAdmin,
    settings: { COMPAT_STRICT: '1', BASE_PATH, METRICS_TOKEN: 'a-token-for-metrics' },
  },
  'a user whose sessions are valid': {
    credentials: async (service) => bearer(await service.user('creator', { max_sessions: 1_000_000 })),
    isNarrowed: true,
  },
}

interface Narrowable {
  readonly components: {
    readonly schemas: { readonly CreateLiveRequest: { readonly properties: Record<string, object> } }
  }
  readonly paths: Readonly<Record<string, Readonly<Record<string, { parameters?: unknown }>>>>
}

/** Writes the description with the installed model, without the key that makes requests unique. */
const writeNarrowed = async (url: string, file: string): Promise<void> => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Narrowable
  const { properties } = document.components.schemas.CreateLiveRequest
  properties['model'] = { type: 'string', enum: ['demo-en'] }
  properties['language'] = { type: 'string', enum: ['en'] }
  properties['translations'] = { type: 'array', items: { type: 'string', enum: ['es', 'fr'] }, maxItems: 2 }
  const create = document.paths['/lives']?.['post']
  if (create !== undefined) create.parameters = []
  await writeFile(file, JSON.stringify(document))
}

for (const [name, { credentials, settings = {}, isNarrowed = false }] of Object.entries(RUNS))
  testWith(SCHEMATHESIS)(`schemathesis finds no 5xx and nothing undeclared for ${name}`, async (t) => {
    t.timeout(6 * 3600_000)
    const service = await startTestService(t, { HUB_URL, ...settings })
    const admin = await service.admin()
    for (let index = 0; index < OTHERS; index += 1)
      await admin.api.call('createUser', { body: { username: `other${index}`, password: passwordOf(`other${index}`) } })
    const headers = await credentials(service)

    const directory = await mkdtemp(join(tmpdir(), 'stenolog-schemathesis-'))
    t.teardown(() => rm(directory, { recursive: true, force: true }))
    const base = `${service.url()}${settings['BASE_PATH'] ?? ''}`
    const narrowed = join(directory, 'openapi.json')
    if (isNarrowed) await writeNarrowed(service.url(), narrowed)
    const target = isNarrowed
      ? [narrowed, '--url', base, '--include-operation-id', 'createLive']
      // A logout would end the login of all other requests.
      : [`${base}/openapi.json`, '--exclude-operation-id', 'logout']
    const options = [
      '-n', EXAMPLES, '--checks', 'all', '--phases', 'examples,coverage,fuzzing,stateful', '--warnings', 'off',
      '--continue-on-failure', '--report-json-path', 'report.json',
    ]
    const run = spawn(SCHEMATHESIS, ['--no-color', 'run', ...target, ...headers, ...options], {
      cwd: directory, stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output: Array<Buffer> = []
    run.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    await once(run, 'close')

    const text = Buffer.concat(output).toString()
    const { complete, errors, failures } = JSON.parse(await readFile(join(directory, 'report.json'), 'utf8')) as Report
    const found = failures.flatMap(({ code, title, operations }) =>
      operations.map((operation) => ({ name: `${code} ${operation.replace(` ${BASE_PATH}/`, ' /')}`, title })),
    )
    const unintended = found.filter((finding) => !isIntended(finding.name, name))
    t.deepEqual(unintended, [], text.slice(-20_000))
    t.deepEqual(errors, [], text.slice(-20_000))
    t.true(complete)
  })
