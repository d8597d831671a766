import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { inheritedVariables } from '../../../infrastructure/process/inherited-variables.ts'
import { createClient, logIn } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { prefixed } from '../../support/service/service.ts'
import { programPath, testWith } from '../../support/running/skip-unless.ts'
import { startTestStores } from '../../support/stores/stores.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const ROOT = resolve(import.meta.dirname, '..', '..', '..')
const LINK = /^Create the first administrator with this link \(it works once, within 30 minutes\): (http:\/\/\S+)$/m
const READABLE = /^\d\d:\d\d:\d\d info {2}models run on \w+ {2}/m

testWith(programPath('script'), programPath('npm'))(
  'on a terminal npm start logs readable lines, and successful requests do not hide the set-up link',
  async (t) => {
  const directory = await temporaryDirectory()
  const stores = await startTestStores()
  const settings = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: directory.path, DRAIN_TIMEOUT: '0s', ...stores.settings }
  // script(1) of util-linux emulates a terminal. It types the text of its standard input.
  const terminal = spawn('script', ['-qfec', 'exec npm start', '/dev/null'], {
    cwd: ROOT,
    env: { ...inheritedVariables(['PATH', 'HOME', 'NODE_COMPILE_CACHE']), ...prefixed(settings) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(terminal, 'close')
  t.teardown(async () => {
    terminal.kill('SIGKILL')
    await closed
    await stores.dispose()
    await directory.remove()
  })
  let written = ''
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => (written += text))
  const screen = (): string => stripVTControlCharacters(written).replaceAll('\r', '')

  const link = await eventually(() => {
    const [, found] = LINK.exec(screen()) ?? []
    if (found === undefined || !READABLE.test(screen())) throw new Error(screen())
    return new URL(found)
  }, { timeoutMs: 90_000 })
  const anonymous = createClient(link.origin)
  await anonymous.api.call('completeSetup', {
    body: { token: link.hash.replace('#token=', ''), username: 'ada', password: 'a long enough password' },
  })
  const client = await logIn(link.origin, 'ada', 'a long enough password')
  t.is((await client.get('/lives/4711')).status, 404)

  terminal.stdin.write('\u0003')
  t.deepEqual(await closed, [0, null])
  t.notRegex(screen(), / request |\{"level"/)
})
