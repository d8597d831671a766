import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { passwordOf, startTestService } from '../../support/service/service.ts'
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
])

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

testWith(SCHEMATHESIS)('schemathesis finds no 5xx and nothing undeclared in the answers [R126]', async (t) => {
  t.timeout(6 * 3600_000)
  // No hub answers at this address, so the model pulls of schemathesis fail at once.
  const service = await startTestService(t, { HUB_URL: 'http://127.0.0.1:9' })
  const admin = await service.admin()
  for (let index = 0; index < OTHERS; index += 1)
    await admin.api.call('createUser', { body: { username: `other${index}`, password: passwordOf(`other${index}`) } })
  const { token } = await service.user('tester', { permissions: ['admin'] })

  const directory = await mkdtemp(join(tmpdir(), 'stenolog-schemathesis-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const run = spawn(
    SCHEMATHESIS,
    [
      '--no-color',
      'run',
      `${service.url()}/openapi.json`,
      '-H',
      `Authorization: Bearer ${token}`,
      '-n',
      EXAMPLES,
      '--checks',
      'all',
      '--phases',
      'examples,coverage,fuzzing',
      '--warnings',
      'off',
      '--continue-on-failure',
      '--report-json-path',
      'report.json',
      // A logout would end the login of all other requests.
      '--exclude-operation-id',
      'logout',
    ],
    { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const output: Array<Buffer> = []
  run.stdout.on('data', (chunk: Buffer) => output.push(chunk))
  await once(run, 'close')

  const text = Buffer.concat(output).toString()
  const { complete, errors, failures } = JSON.parse(await readFile(join(directory, 'report.json'), 'utf8')) as Report
  const found = failures.flatMap(({ code, title, operations }) =>
    operations.map((operation) => ({ name: `${code} ${operation}`, title })),
  )
  const unintended = found.filter(({ name }) => !INTENDED.has(name))
  t.deepEqual(unintended, [], text.slice(-20_000))
  t.deepEqual(errors, [], text.slice(-20_000))
  t.true(complete)
})
