import test from 'ava'
import { runTestService } from '../../../support/service/service.ts'

const service = await runTestService({ PENDING_TIMEOUT: '5s', MAX_DURATION: '20s', IDLE_TIMEOUT: '3s' })
test.after.always(() => service.dispose())

/** Returns the reserved memory in megabytes. */
const reserved = async (): Promise<number> =>
  Number(
    /^stenolog_vram_reserved_megabytes (\d+)$/m.exec((await service.anonymous().get<string>('/metrics')).body)?.[1],
  )

test.serial(
  'PENDING_TIMEOUT finishes a session without sender, closes its listeners and frees its memory',
  async (t) => {
    t.timeout(600_000)
    const client = await service.user('forgotten')
    const live = await client.createLive()
    t.is(await reserved(), live.vram)
    const listener = await client.socket(live, 'listener')
    t.deepEqual(await listener.closed, { code: 1000, reason: '' })
    t.is(listener.texts.at(-1), '{"status":"finished"}')
    await client.untilStatus(live, 'finished')
    t.is(await reserved(), 0)
  },
)

test.serial('IDLE_TIMEOUT finishes an active session whose sender went silent', async (t) => {
  t.timeout(600_000)
  const client = await service.user('silent')
  const live = await client.createLive()
  const [sender, listener] = [await client.socket(live, 'sender'), await client.socket(live, 'listener')]
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  sender.sendAudio(new Int16Array(1600))
  t.deepEqual(await sender.closed, { code: 4408, reason: 'session_idle' })
  t.like(sender.frames.at(-1), { type: 'error', code: 'session_idle' })
  t.deepEqual(await listener.closed, { code: 1000, reason: '' })
  await client.untilStatus(live, 'finished')
  t.is(await reserved(), 0)
})

test.serial('MAX_DURATION finishes a busy session', async (t) => {
  t.timeout(600_000)
  const client = await service.user('endless')
  const live = await client.createLive()
  const [sender, listener] = [await client.socket(live, 'sender'), await client.socket(live, 'listener')]
  sender.send({ type: 'config' })
  const timer = setInterval(() => sender.sendAudio(new Int16Array(1600)), 100)
  t.teardown(() => clearInterval(timer))
  for (const socket of [sender, listener]) {
    t.deepEqual(await socket.closed, { code: 1000, reason: '' })
    t.is(socket.texts.at(-1), '{"status":"finished"}')
  }
  await client.untilStatus(live, 'finished')
  t.is(await reserved(), 0)
})
