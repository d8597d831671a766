import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import { logIn } from '../../support/service/client.ts'
import { launchPreloaded } from '../../support/service/launch-preloaded.ts'
import { ADMIN, startTestService } from '../../support/service/service.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

test('requests in progress at SIGTERM are answered, and the log tells of the stop', async (t) => {
  const service = await startTestService(t)
  const login = () => fetch(`${service.url()}/login`, { method: 'POST', body: new URLSearchParams(ADMIN) })
  // After the first answer the other requests still wait for their password check.
  const answers = Array.from({ length: 12 }, login)
  await Promise.race(answers)
  const exited = service.kill('SIGTERM')
  t.deepEqual((await Promise.all(answers)).map(({ status }) => status), answers.map(() => 200))
  t.is(await exited, 0)
  const lines = service.log().split('\n').filter((line) => line.includes('"msg":"stopp'))
  const told = lines.map((line): unknown => JSON.parse(line))
  t.like(told, [{ msg: 'stopping', why: 'SIGTERM', sessions: 0 }, { msg: 'stopped' }])
})

test('requests on connections that wait for acceptance at SIGTERM are answered', async (t) => {
  const service = await startTestService(t)
  const { hostname, port } = new URL(service.url())
  const sockets = Array.from({ length: 300 }, () => connect(Number(port), hostname))
  const answers = sockets.map(async (socket) => {
    socket.end(`GET /health/live HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
    return (await text(socket)).split('\r\n')[0]
  })
  const settled = Promise.allSettled(answers)
  await Promise.all(sockets.map((socket) => once(socket, 'ready')))
  const exited = service.kill('SIGTERM')
  t.deepEqual(
    new Set((await settled).map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason)))),
    new Set(['HTTP/1.1 200 OK']),
  )
  t.is(await exited, 0)
})

test('an uncaught error is logged and closes the sockets, and the service exits with 1', async (t) => {
  const faulty = "process.on('SIGUSR2', () => { void Promise.reject(new Error('an uncaught test error')) })"
  const { service } = await launchPreloaded(t, faulty)
  const client = await logIn(await service.url(), ADMIN.username, ADMIN.password)
  const listener = await client.socket(await client.createLive(), 'listener')
  service.kill('SIGUSR2')
  t.is((await listener.closed).code, 1012)
  t.is(await service.exited, 1)
  const line = service.stderr().split('\n').find((text) => text.includes('an uncaught test error')) ?? ''
  t.like(JSON.parse(line), { msg: 'unexpected error; the service stops', err: { message: 'an uncaught test error' } })
})

test('a service whose parent dies before it listens exits too', async (t) => {
  const directory = await temporaryDirectory()
  const settings = { STENOLOG_PORT: '0', STENOLOG_DATA_DIR: directory.path, STENOLOG_DRAIN_TIMEOUT: '0s' }
  const main = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'main.ts')
  const child = fork(main, [], { stdio: 'ignore', env: { ...CHILD_ENVIRONMENT, ...settings } })
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve))
  t.teardown(async () => {
    child.kill('SIGKILL')
    await exited
    await directory.remove()
  })
  child.disconnect()
  t.is(await exited, 0)
})
