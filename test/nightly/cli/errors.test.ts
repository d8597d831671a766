import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { readSettings } from '../../../infrastructure/settings/settings.ts'
import { examineEnvironment } from '../../../interfaces/cli/doctor/environment-checks.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Arguments, the first line of the error, settings. `/missing` does not exist. */
const ERRORS = [
  [['models', 'pull', './nosuch'], 'error: There is no folder ./nosuch.'],
  [['models', 'verify', 'foo'], 'error: Model "foo" is not installed.'],
  [['users', 'create', 'ada'], 'error: The password needs at least 8 characters.'],
  [['users', 'create', 'ada', '--password-file', '/missing'], 'error: --password-file: there is no file /missing.'],
  [
    ['users', 'change', 'ada', '--permission', 'admin', '--no-permissions'],
    'error: Use either --permission or --no-permissions.',
  ],
  [
    ['serve'],
    'error: Stenolog cannot start: STENOLOG_MASTER_KEY_FILE: there is no file /missing',
    { MASTER_KEY_FILE: '/missing', PORT: '0' },
  ],
] as const

for (const [args, line, settings] of ERRORS)
  test(`stenolog ${args.join(' ')} fails with: ${line}`, async (t) => {
    const { path, remove } = await temporaryDirectory()
    t.teardown(remove)
    const run = await stenolog(path, args, settings)
    t.not(run.code, 0)
    t.is(run.stderr.split('\n')[0], line)
  })

test('list commands do not create data in a missing data directory', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  for (const args of [['users', 'list'], ['tokens', 'list', 'ada'], ['lives', 'list']]) {
    const run = await stenolog(join(path, 'data'), args)
    t.is(run.code, 1)
    t.regex(run.stderr, /^error: There is no data of a service in .*\nhint: .*STENOLOG_DATA_DIR/)
  }
  t.deepEqual(await readdir(path), [])
})

test('doctor reports wrong paths in the settings, which also prevent the start of the service', async (t) => {
  const checks = await examineEnvironment(readSettings({
    STENOLOG_MASTER_KEY_FILE: '/missing/key', STENOLOG_MODELS_DIR: '/missing/models',
    STENOLOG_DATA_DIR: join(import.meta.filename, 'data'), STENOLOG_PORT: '0',
  }))
  t.deepEqual(checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`), [
    'model folder: STENOLOG_MODELS_DIR: there is no folder /missing/models',
    `data directory: ${join(import.meta.filename, 'data')} cannot be created in ${import.meta.filename}`,
    'master key: STENOLOG_MASTER_KEY_FILE: there is no file /missing/key',
  ])
})
