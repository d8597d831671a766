import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createClient, logIn } from '../../support/service/client.ts'
import { programPath, testWith } from '../../support/running/skip-unless.ts'
import { ADMIN, prefixed, startTestService } from '../../support/service/service.ts'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { isRunning } from '../../support/tools/processes.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const [SCRIPT, NOHUP] = [programPath('script'), programPath('nohup')]
const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'main.ts')

test('a service whose terminal is closed drains, although the signal comes twice', async (t) => {
  const service = await startTestService(t, { DRAIN_TIMEOUT: '60s' })
  const client = await logIn(service.url(), ADMIN.username, ADMIN.password)
  const sender = await client.socket(await client.createLive(), 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const exited = service.kill('SIGHUP')
  await eventually(async () => {
    if ((await client.get('/health/ready')).status !== 503) throw new Error('still ready')
  })
  void service.kill('SIGHUP')
  sender.send({ type: 'FINISH' })
  t.deepEqual(await sender.closed, { code: 1000, reason: '' })
  t.is(await exited, 0)
})

testWith(SCRIPT, NOHUP)('a service under nohup survives the end of its terminal', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const [log, pidFile] = [join(path, 'nohup.out'), join(path, 'pid')]
  // Like an interactive shell, with job control: the service keeps the terminal as its standard input.
  const command = `set -m; "${NOHUP}" "${process.execPath}" "${MAIN}" & echo $! > pid; wait`
  const terminal = spawn(SCRIPT, ['-qfec', command, '/dev/null'], {
    cwd: path,
    env: { ...CHILD_ENVIRONMENT, ...prefixed({ HOST: '127.0.0.1', PORT: '0', DATA_DIR: path }) },
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const pid = await eventually(() => Number.parseInt(readFileSync(pidFile, 'utf8'), 10))
  t.teardown(() => void (isRunning(pid) && process.kill(pid, 'SIGKILL')))
  const url = await eventually(() => {
    const found = /listens on (http:\S+)/.exec(readFileSync(log, 'utf8'))?.[1]
    if (found === undefined) throw new Error('the service does not listen')
    return found
  })
  terminal.kill('SIGKILL')
  process.kill(pid, 'SIGHUP')
  // A service that drains is not ready, and soon does not answer any more.
  for (let request = 0; request < 20; request += 1)
    t.is((await createClient(url).get('/health/ready')).status, 200)
  process.kill(pid, 'SIGTERM')
  await t.notThrowsAsync(eventually(() => {
    if (isRunning(pid)) throw new Error('the service does not stop')
  }))
})
