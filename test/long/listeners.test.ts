import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { WebSocket } from 'ws'
import { logIn } from '../support/client.ts'
import type { Client, LiveJson, TestSocket } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { fuzzFrames } from '../support/fuzz-frames.ts'
import { passwordOf, runTestService } from '../support/service.ts'
import { sampleSentences, silence } from '../support/speech.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

/** Handshakes that are made at once. */
const AT_ONCE = 100

interface Listener {
  /** Frames after the connection message, in their order. */
  readonly texts: ReadonlyArray<string>
  readonly closed: Promise<number>
  readonly terminate: () => void
}

const urlOf = (live: LiveJson, query: string): string => `${service.url().replace('http', 'ws')}${live.relative_path}?token=${live.listener_token}${query}`

const open = async (url: string): Promise<Listener> => {
  const socket = new WebSocket(url)
  const texts: Array<string> = []
  socket.on('message', (data) => texts.push((data as Buffer).toString()))
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  await once(socket, 'open')
  return {
    get texts() {
      return texts.slice(1)
    },
    closed,
    terminate: () => socket.terminate(),
  }
}

/** As clients do, a handshake that a crowded machine did not answer is tried again. */
const listen = (url: string): Promise<Listener> => eventually(() => open(url), { timeoutMs: 60_000 })

const listeners = async (count: number, of: () => Promise<Listener>): Promise<ReadonlyArray<Listener>> => {
  const all: Array<Listener> = []
  while (all.length < count) all.push(...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - all.length) }, of))))
  return all
}

const started = async (client: Client, live: LiveJson): Promise<TestSocket> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  return sender
}

const say = async (sender: TestSocket): Promise<void> => {
  for (const { samples } of (await sampleSentences()).slice(0, 2)) {
    const spoken = sender.frames.filter(({ final }) => final === true).length
    sender.sendAudio(samples)
    sender.sendAudio(silence(2))
    await sender.frame(({ final, segment }) => final === true && Number(segment) > spoken)
  }
}

test.serial('R133: 5,000 listeners of one live all get every frame in the same order', async (t) => {
  t.timeout(1_200_000)
  const client = await service.user('popular')
  const live = await client.createLive()
  const all = await listeners(5000, () => listen(urlOf(live, '')))
  const sender = await started(client, live)
  await say(sender)
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  t.deepEqual([...new Set(await Promise.all(all.map(({ closed }) => closed)))], [1000])
  const expected = ['{"status":"started"}', ...sender.texts.filter((text) => text.includes('"transcription"')), '{"status":"finished"}'].join('\n')
  t.is(all.filter(({ texts }) => texts.join('\n') !== expected).length, 0)
})

test.serial('F17: 10,000 listeners that come back after a restart, each after a random while, all get what they missed', async (t) => {
  t.timeout(1_800_000)
  const LISTENERS = Number(process.env['STENOLOG_TEST_LISTENERS'] ?? 10_000)
  const client = await service.user('storm')
  const live = await client.createLive()
  const sender = await started(client, live)
  await say(sender)
  const finals = sender.texts.filter((text) => text.includes('"final":true'))
  t.true(finals.length >= 2)
  const all = await listeners(LISTENERS, () => listen(urlOf(live, '')))
  t.is(await service.kill('SIGTERM'), 0)
  t.deepEqual([...new Set(await Promise.all(all.map(({ closed }) => closed)))].toSorted((a, b) => a - b), [1012])
  await service.start()
  await logIn(service.url(), 'storm', passwordOf('storm'))
  const begin = performance.now()
  const back = await Promise.all(
    all.map(async (_, index) => {
      await delay(Math.random() * 25_000)
      const known = index % finals.length
      const listener = await listen(urlOf(live, `&after=${known}`))
      return { known, code: await listener.closed, texts: listener.texts }
    }),
  )
  t.log(`all were back and told after ${Math.round((performance.now() - begin) / 100) / 10} s, of which 25 are the random while`)
  t.is(back.filter(({ code }) => code !== 4410).length, 0)
  t.is(back.filter(({ known, texts }) => texts.slice(0, -1).join('\n') !== finals.slice(known).join('\n')).length, 0)
  t.is((await service.anonymous().get('/health/ready')).status, 200)
})

test.serial('S34: 1,000,000 frames of every kind break nothing: only frames and closes of the interface come back, no error is logged', async (t) => {
  t.timeout(7_200_000)
  const client = await service.user('fuzzing', { max_sessions: 1_000_000 })
  t.deepEqual(await fuzzFrames(client, Number(process.env['STENOLOG_TEST_FUZZED_FRAMES'] ?? 1_000_000)), [])
  t.is((await client.get('/health/ready')).status, 200)
  t.notRegex(service.log(), /"level":"?(error|fatal|50|60)/)
})
