import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { handshake, logIn, type Client, type LiveJson, type TestSocket } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { launch, type Launched } from '../../support/service/launch.ts'
import { ADMIN, startTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const finalsOf = ({ texts }: TestSocket): ReadonlyArray<string> => texts.filter((text) => text.includes('"final":true'))

/**
 * Starts a service: `through` is a command that runs it, `code` is JavaScript that runs in its process first. Logs its
 * first administrator in.
 */
const start = async (
  t: ExecutionContext,
  { through = [], code = '' }: { readonly through?: ReadonlyArray<string>; readonly code?: string },
): Promise<{ readonly service: Launched; readonly url: string; readonly client: Client }> => {
  const directory = await temporaryDirectory()
  const service = launch(
    t,
    {
      STENOLOG_PORT: '0',
      STENOLOG_DATA_DIR: directory.path,
      STENOLOG_ADMIN_USERNAME: ADMIN.username,
      STENOLOG_ADMIN_PASSWORD: ADMIN.password,
      STENOLOG_RATE_LIMIT: '0',
      STENOLOG_VRAM_MB: '100000',
      STENOLOG_OVERCOMMIT: '0',
      STENOLOG_DRAIN_TIMEOUT: '0s',
      ...(code === '' ? {} : { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` }),
    },
    through,
  )
  t.teardown(directory.remove)
  const url = await service.url()
  return { service, url, client: await logIn(url, ADMIN.username, ADMIN.password) }
}

const open = async (
  client: Client,
): Promise<{ readonly live: LiveJson; readonly sender: TestSocket; readonly listener: TestSocket }> => {
  const live = await client.createLive()
  const [sender, listener] = [await client.socket(live, 'sender'), await client.socket(live, 'listener')]
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  return { live, sender, listener }
}

/** Sends a sentence and asserts that the sender and the listener receive equal finals. */
const assertTranscribes = async (t: ExecutionContext, sender: TestSocket, listener: TestSocket): Promise<void> => {
  const before = finalsOf(sender).length
  sender.sendAudio((await sampleSentences())[0]?.samples ?? silence(1))
  sender.sendAudio(silence(2))
  await eventually(() => assert.ok(finalsOf(sender).length > before), { timeoutMs: 100_000 })
  await eventually(() => assert.ok(finalsOf(listener).length === finalsOf(sender).length))
  t.deepEqual(finalsOf(listener), finalsOf(sender))
}

const descriptorsOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

const LIMIT = 256

test.serial('without free file descriptors new connections are refused and open ones continue', async (t) => {
  t.timeout(900_000)
  const { service, url, client } = await start(t, { through: ['prlimit', `--nofile=${LIMIT}`] })
  const { sender, listener } = await open(client)
  await assertTranscribes(t, sender, listener)
  const held: Array<Socket> = []
  t.teardown(() => {
    for (const socket of held) socket.destroy()
  })
  let refused = 0
  // The service closes connections that it cannot accept.
  const hold = (): void => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    held.push(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      refused += 1
    })
  }
  for (let i = 0; i < 2 * LIMIT; i += 1) hold()
  await eventually(() =>
    assert.ok(
      refused > 0 && descriptorsOf(service.pid()) >= LIMIT - 1,
      `${refused} refused, ${descriptorsOf(service.pid())} descriptors`,
    ),
  )
  await t.throwsAsync(handshake(`${url.replace('http', 'ws')}/ws/live?token=none`))
  await assertTranscribes(t, sender, listener)
  for (const socket of held) socket.destroy()
  await eventually(async () => assert.equal((await client.get('/health/ready')).status, 200))
  const next = await open(client)
  await assertTranscribes(t, next.sender, next.listener)
  await assertTranscribes(t, sender, listener)
  t.is((await handshake(`${url.replace('http', 'ws')}/ws/live?token=none`)).status, 401)
  t.notRegex(service.stderr(), /"level":(50|60)/)
})

/** Duration of the blockage: longer than the 30 s after which a liveness probe restarts a container. */
const STANDSTILL_MS = 31_000

test.serial('a blocked event loop fails probes, logs its duration and cause, and loses no socket', async (t) => {
  t.timeout(900_000)
  const code = `process.on('SIGUSR2', () => { const end = Date.now() + ${STANDSTILL_MS}; while (Date.now() < end); })`
  const { service, url, client } = await start(t, { code })
  const { sender, listener } = await open(client)
  await assertTranscribes(t, sender, listener)
  service.kill('SIGUSR2')
  const begin = performance.now()
  const probe = async (): Promise<boolean> =>
    (await fetch(`${url}/health/live`, { signal: AbortSignal.timeout(5000) })).ok
  await eventually(async () => assert.rejects(probe()))
  while (performance.now() - begin < STANDSTILL_MS - 6000) await t.throwsAsync(probe())
  await eventually(async () => assert.ok(await probe()), { timeoutMs: 120_000 })
  const line = await eventually(() => {
    const found = service
      .stderr()
      .split('\n')
      .find((text) => text.includes('the event loop was blocked') && text.includes('own work'))
    assert.ok(found !== undefined)
    return JSON.parse(found) as { readonly ms: number; readonly cause: string }
  })
  t.true(line.ms > STANDSTILL_MS - 2000)
  await assertTranscribes(t, sender, listener)
})

test.serial('SIGTERM with 50 sessions sends all final text, closes with 1012 and exits with 0', async (t) => {
  t.timeout(900_000)
  const LIVES = 50
  const service = await startTestService(t, { DRAIN_TIMEOUT: '1s' })
  const client = await service.user('fifty', { max_sessions: LIVES })
  const speech = (await sampleSentences())[0]?.samples ?? silence(1)
  const lives: Array<Awaited<ReturnType<typeof open>>> = []
  for (let index = 0; index < LIVES; index += 1) lives.push(await open(client))
  // Half of the sessions have an open sentence.
  const speaking = lives.filter((_, index) => index % 2 === 0).map(({ sender }) => sender)
  for (const sender of speaking) sender.sendAudio(speech)
  await Promise.race(speaking.map((sender) => sender.frame(({ final }) => final === false)))
  t.is(await service.kill('SIGTERM'), 0)
  for (const [index, { sender, listener }] of lives.entries()) {
    t.deepEqual([(await sender.closed).code, (await listener.closed).code], [1012, 1012])
    if (index % 2 === 1) t.deepEqual(finalsOf(sender), [])
    t.deepEqual(finalsOf(listener), finalsOf(sender))
  }
  t.log(
    `${lives.filter(({ sender }) => finalsOf(sender).length > 0).length} of the ${LIVES / 2} sessions with speech ` +
      'received final text',
  )
  await service.start()
  const again = await service.logIn('fifty')
  const { body } = await again.get<{ readonly data: ReadonlyArray<LiveJson> }>('/lives/?limit=100')
  const hasSpeech = new Map(lives.map(({ live }, index) => [live.id, index % 2 === 0]))
  t.is(body.data.length, LIVES)
  t.deepEqual(
    body.data.filter(({ id, status }) => status !== (hasSpeech.get(id) === true ? 'finished' : 'pending')),
    [],
  )
})
