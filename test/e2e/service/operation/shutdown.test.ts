import test, { type ExecutionContext } from 'ava'
import { handshake, logIn, type Listing, type LiveJson, type Single } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { launch } from '../../../support/service/launch.ts'
import { ADMIN, passwordOf, prefixed, startTestService } from '../../../support/service/service.ts'
import { startTestStores } from '../../../support/stores/stores.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'

const directoryFor = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

test.serial('after SIGTERM the service refuses new sessions, lets senders finish and exits with 0', async (t) => {
  const service = await startTestService(t, { DRAIN_TIMEOUT: '60s' })
  const client = await service.user('draining')
  const [live, idle] = [await client.createLive(), await client.createLive()]
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  sender.sendAudio((await sampleSentences())[0]?.samples ?? silence(1))
  const listener = await client.socket(live, 'listener')
  const exited = service.kill('SIGTERM')
  await eventually(async () => {
    if ((await client.get('/health/ready')).status !== 503) throw new Error('still ready')
  })
  t.is((await client.get('/health/live')).status, 200)
  const refused = await client.post('/lives', { model: 'demo-en', language: 'en' })
  t.is(refused.status, 503)
  t.is(typeof refused.body['detail'], 'string')
  t.is((await handshake(`${service.url().replace('http', 'ws')}/ws/live?token=${idle.listener_token}`)).status, 503)
  t.is((await client.get<Listing<LiveJson>>('/lives/')).body.data.length, 2, 'reads still work')
  sender.send({ type: 'FINISH' })
  t.deepEqual(await sender.closed, { code: 1000, reason: '' })
  t.true(sender.frames.some(({ final }) => final === true))
  t.is((await listener.closed).code, 1000)
  t.is(await exited, 0)
})

test.serial(
  'without drain time sockets get server_restart, and running sessions are finished after the restart',
  async (t) => {
    const service = await startTestService(t, { DRAIN_TIMEOUT: '0s' })
    const client = await service.user('restarting')
    const [running, pending] = [
      await client.createLive(),
      await client.createLive({ listener_token: 'kept-over-restart' }),
    ]
    const sender = await client.socket(running, 'sender')
    sender.send({ type: 'config' })
    sender.sendAudio(silence(0.5))
    await client.untilStatus(running, 'active')
    const listener = await client.socket(running, 'listener')
    t.is(await service.kill('SIGTERM'), 0)
    for (const socket of [sender, listener]) {
      t.deepEqual(await socket.closed, { code: 1012, reason: 'server_restart' })
      t.like(socket.frames.at(-1), { type: 'error', code: 'server_restart' })
    }
    await service.start()
    const relogged = await logIn(service.url(), 'restarting', passwordOf('restarting'))
    const { data } = (await relogged.get<Listing<LiveJson>>('/lives/')).body
    t.deepEqual(
      data.map(({ id, status, vram }) => [id, status, vram]),
      [[pending.id, 'pending', pending.vram], [running.id, 'finished', 0]],
    )
    t.is((await (await relogged.socket(running, 'listener')).closed).code, 4410)
    const next = await relogged.socket(pending, 'sender')
    t.like(await next.frame(() => true), { role: 'sender', session_id: pending.id, state: 'pending' })
    t.is((await (await service.admin()).get('/users/')).status, 200, `${ADMIN.username} still exists`)
  },
)

test.serial('after kill -9 an active session is finished, and a returning listener gets 4410', async (t) => {
  const service = await startTestService(t)
  const client = await service.user('killed')
  const [live, pending] = [await client.createLive(), await client.createLive()]
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  sender.sendAudio(silence(0.5))
  const waiting = await client.socket(pending, 'sender')
  waiting.send({ type: 'config' })
  await waiting.frame(({ status }) => status === 'started')
  await client.untilStatus(live, 'active')
  await service.kill('SIGKILL')
  t.is((await sender.closed).code, 1006)
  await service.start()
  const relogged = await logIn(service.url(), 'killed', passwordOf('killed'))
  t.is((await relogged.get<Single<LiveJson>>(`/lives/${live.id}`)).body.data.status, 'finished')
  t.is((await relogged.get<Single<LiveJson>>(`/lives/${pending.id}`)).body.data.status, 'pending')
  t.regex(
    (await relogged.get<string>('/metrics')).body,
    new RegExp(`^stenolog_vram_reserved_megabytes ${pending.vram}$`, 'm'),
  )
  t.is((await (await relogged.socket(live, 'listener')).closed).code, 4410)
  const next = await relogged.socket(pending, 'sender')
  next.send({ type: 'config' })
  await next.frame(({ status }) => status === 'started')
})

test.serial('a second signal stops a draining service at once', async (t) => {
  const directory = await directoryFor(t)
  const stores = await startTestStores()
  t.teardown(stores.dispose)
  const service = launch(t, {
    ...prefixed(stores.settings),
    STENOLOG_DATA_DIR: directory,
    STENOLOG_PORT: '0',
    STENOLOG_DRAIN_TIMEOUT: '24h',
    STENOLOG_ADMIN_USERNAME: ADMIN.username,
    STENOLOG_ADMIN_PASSWORD: ADMIN.password,
  })
  const client = await logIn(await service.url(), ADMIN.username, ADMIN.password)
  const sender = await client.socket(await client.createLive(), 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  service.kill('SIGINT')
  await eventually(async () => {
    if ((await client.get('/health/ready')).status !== 503) throw new Error('still ready')
  })
  service.kill('SIGTERM')
  t.is(await service.exited, 1)
})
