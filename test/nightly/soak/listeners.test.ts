import { once } from 'node:events'
import test from 'ava'
import { WebSocket } from 'ws'
import { cpuSecondsOf } from '../../../bench/cpu-time.ts'
import type { Client, LiveJson, TestSocket } from '../../support/service/client.ts'
import { gatherCrowd } from '../../support/load/crowd.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { isFlat, quartersOf, describeGrowth, sampleFootprints } from '../../support/tools/footprint.ts'
import { fuzzFrames } from '../../support/load/fuzz-frames.ts'
import { runTestService, startTestService } from '../../support/service/service.ts'
import { inspect, prepareInspection } from '../../support/service/inspect.ts'
import { freePort } from '../../support/tools/free-port.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

prepareInspection()
const service = await runTestService()
test.after.always(() => service.dispose())

/** Number of simultaneous handshakes. */
const AT_ONCE = 100

interface Listener {
  /** Frames after the connection message, in their order. */
  readonly texts: ReadonlyArray<string>
  readonly closed: Promise<number>
  readonly terminate: () => void
}

const urlOf = (live: LiveJson, query: string): string =>
  `${service.url().replace('http', 'ws')}${live.relative_path}?token=${live.listener_token}${query}`

const open = async (url: string): Promise<Listener> => {
  const socket = new WebSocket(url)
  const texts: Array<string> = []
  socket.on('message', (data) => texts.push((data as Buffer).toString()))
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await once(socket, 'open')
  return { get texts() { return texts.slice(1) }, closed, terminate: () => socket.terminate() }
}

/** Retries a handshake that the busy machine did not answer, as clients do. */
const listen = (url: string): Promise<Listener> => eventually(() => open(url), { timeoutMs: 60_000 })

const openListeners = async (count: number, connect: () => Promise<Listener>): Promise<ReadonlyArray<Listener>> => {
  const all: Array<Listener> = []
  while (all.length < count)
    all.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - all.length) }, connect))))
  return all
}

const startSender = async (client: Client, live: LiveJson): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  return sender
}

const sendSentences = async (sender: TestSocket): Promise<void> => {
  for (const { samples } of (await sampleSentences()).slice(0, 2)) {
    const finalsBefore = sender.frames.filter(({ final }) => final === true).length
    sender.sendAudio(samples)
    sender.sendAudio(silence(2))
    await sender.frame(({ final, segment }) => final === true && Number(segment) > finalsBefore)
  }
}

test.serial('all 5,000 listeners of one session get every frame in order', async (t) => {
  t.timeout(1_200_000)
  const client = await service.user('popular')
  const live = await client.createLive()
  const all = await openListeners(5000, () => listen(urlOf(live, '')))
  const sender = await startSender(client, live)
  await sendSentences(sender)
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  t.deepEqual([...new Set(await Promise.all(all.map(({ closed }) => closed)))], [1000])
  const expected = [
    '{"status":"started"}',
    ...sender.texts.filter((text) => text.includes('"transcription"')),
    '{"status":"finished"}',
  ].join('\n')
  t.is(all.filter(({ texts }) => texts.join('\n') !== expected).length, 0)
})

/** Returns a quantile of sorted milliseconds, in seconds. */
const quantile = (values: ReadonlyArray<number>, q: number): string =>
  ((values[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN) / 1000).toFixed(2)

test.serial('10,000 listeners reconnect after a restart and get all missed text', async (t) => {
  t.timeout(1_800_000)
  const LISTENERS = Number(process.env['STENOLOG_TEST_LISTENERS'] ?? 10_000)
  const restarting = await startTestService(t, { PORT: String(await freePort()) })
  const client = await restarting.user('storm')
  const live = await client.createLive()
  const sender = await startSender(client, live)
  await sendSentences(sender)
  const finals = sender.texts.filter((text) => text.includes('"final":true'))
  t.true(finals.length >= 2)
  const crowd = await gatherCrowd({
    port: Number(new URL(restarting.url()).port),
    path: `${live.relative_path}?token=${live.listener_token}`,
    count: LISTENERS,
    finals: finals.length,
  })
  t.teardown(crowd.dispose)
  t.is(await restarting.kill('SIGTERM'), 0)
  const begin = performance.now()
  await restarting.start()
  const startSeconds = (performance.now() - begin) / 1000
  const before = cpuSecondsOf(restarting.pid()) ?? Number.NaN
  const { codes, listeners: returned } = await crowd.returned
  const [handshakeMs, awayMs] = [
    returned.map(({ tookMs }) => tookMs).toSorted((a, b) => a - b),
    returned.map(({ backMs }) => backMs).toSorted((a, b) => a - b),
  ]
  const cpuMsPerListener = (((cpuSecondsOf(restarting.pid()) ?? Number.NaN) - before) / LISTENERS) * 1000
  t.log(
    `the service restarted in ${startSeconds.toFixed(1)} s; all ${LISTENERS} listeners were back ` +
      `${quantile(awayMs, 1)} s after their 1012, including a random delay of 5 to 30 s; ` +
      `a handshake took ${quantile(handshakeMs, 0.5)} s in the median, ${quantile(handshakeMs, 0.99)} s at p99, ` +
      `${quantile(handshakeMs, 1)} s at most; ` +
      `${returned.reduce((sum, { refused }) => sum + refused, 0)} were refused; ` +
      `${cpuMsPerListener.toFixed(2)} ms of CPU per listener`,
  )
  t.deepEqual(codes, [1012])
  t.is(returned.length, LISTENERS)
  t.is(returned.filter(({ code }) => code !== 4410).length, 0)
  const ended = '{"type":"error","code":"session_finished"'
  const wrong = returned.filter(({ after, text }) => !text.startsWith([...finals.slice(after), ended].join('\n')))
  t.deepEqual(wrong.slice(0, 3), [])
  t.is((await restarting.anonymous().get('/health/ready')).status, 200)
})

test.serial('1,000,000 random frames break nothing, disturb no other session and leak no memory', async (t) => {
  t.timeout(7_200_000)
  const FRAMES = Number(process.env['STENOLOG_TEST_FUZZED_FRAMES'] ?? 1_000_000)
  const [client, bystander] = [
    await service.user('fuzzing', { max_sessions: 1_000_000 }),
    await service.user('bystander'),
  ]
  const live = await bystander.createLive()
  const [listener, sender] = [await bystander.socket(live, 'listener'), await startSender(bystander, live)]
  const fuzzed = new AbortController()
  const speaking = (async () => {
    do await sendSentences(sender)
    while (!fuzzed.signal.aborted)
  })()
  const begin = performance.now()
  // The first frames warm up code and caches.
  t.deepEqual((await fuzzFrames(client, FRAMES / 20)).surprises, [])
  const before = await inspect(service)
  let result: Awaited<ReturnType<typeof fuzzFrames>> | null = null
  const samples = await sampleFootprints(service.pid(), 250, async () => {
    result = await fuzzFrames(client, FRAMES)
  })
  fuzzed.abort()
  await speaking
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  t.is((await listener.closed).code, 1000)
  const { surprises = [], closes = {} } = result ?? {}
  const [own, engine] = [quartersOf(samples, 'own'), quartersOf(samples, 'children')]
  // Thousands of ended sessions leave garbage, so only the memory after its collection counts.
  const after = await eventually(
    async () => {
      const found = await inspect(service)
      if (found.externalMb > before.externalMb * 1.1 + 2)
        throw new Error(`${before.externalMb} → ${found.externalMb} MB outside the heap`)
      return found
    },
    { timeoutMs: 180_000 },
  )
  const finals = sender.frames.filter(({ final }) => final === true).map(({ text }) => String(text))
  t.log(
    `${FRAMES} frames in ${((performance.now() - begin) / 1000).toFixed(0)} s, closes ${JSON.stringify(closes)}; ` +
      `service ${describeGrowth(own)} MB, engine ${describeGrowth(engine)} MB, ` +
      `heap ${before.heapMb.toFixed(1)} → ${after.heapMb.toFixed(1)} MB; ${finals.length} finals of the other session`,
  )
  t.deepEqual(surprises, [])
  t.deepEqual(
    listener.texts.filter((text) => text.includes('"transcription"')),
    sender.texts.filter((text) => text.includes('"transcription"')),
  )
  t.true(
    isFlat(engine) && isFlat([before.heapMb, after.heapMb]),
    `${describeGrowth(engine)}, ${before.heapMb} → ${after.heapMb}`,
  )
  t.is((await client.get('/health/ready')).status, 200)
  t.notRegex(service.log(), /"level":"?(error|fatal|50|60)/)
})
