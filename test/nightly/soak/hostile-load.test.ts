import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import test from 'ava'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import type { Attack, AttackReport } from '../../support/load/hostile-worker.ts'
import { largestInputs, type RequestInput } from '../../support/requests/largest-inputs.ts'
import { finals } from '../../support/service/captions.ts'
import type { TestSocket } from '../../support/service/client.ts'
import { runTestService } from '../../support/service/service.ts'
import { footprintOf } from '../../support/tools/footprint.ts'
import { chanceOf } from '../../support/tools/seeded.ts'

const MINUTES = Number(process.env['STENOLOG_TEST_HOSTILE_MINUTES'] ?? 20)
/** The attacker has an address and a user of its own. */
const ATTACKER = '127.0.0.2'
/** Most of the largest inputs are refused: only a busy service may answer this much slower. */
const MAX_SLOWDOWN = 5
const MAX_GROWTH = 1.05
const FRAME = 1600

const service = await runTestService({ RATE_LIMIT: '50' })
test.after.always(() => service.dispose())

const quantile = (values: ReadonlyArray<number>, q: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * q)] ?? Number.NaN

/** Asks whether the service lives, ten times a second. Returns the milliseconds of each answer. */
const healthTimes = async (minutes: number): Promise<ReadonlyArray<number>> => {
  const times: Array<number> = []
  const end = performance.now() + minutes * 60_000
  while (performance.now() < end) {
    const begun = performance.now()
    const answer = await fetch(`${service.url()}/health/live`)
    await answer.arrayBuffer()
    assert.equal(answer.status, 200)
    times.push(performance.now() - begun)
    await delay(100)
  }
  return times
}

/** Speaks in real time until the signal aborts, then finishes the session. */
const speakUntil = async (sender: TestSocket, signal: AbortSignal): Promise<void> => {
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const sentences = (await sampleSentences()).flatMap(({ samples }) => [samples, silence(1)])
  let next = performance.now()
  for (let n = 0; !signal.aborted; n += 1)
    for (const samples of [sentences[n % sentences.length] ?? silence(1)])
      for (let at = 0; at < samples.length && !signal.aborted; at += FRAME) {
        sender.sendAudio(samples.slice(at, at + FRAME))
        next += 100
        await delay(Math.max(0, next - performance.now()))
      }
  sender.send({ type: 'FINISH' })
}

/** Memory of the service in MB: the median of a minute. */
const memoryOfMinute = async (): Promise<number> => {
  const samples: Array<number> = []
  for (let second = 0; second < 60; second += 1) {
    samples.push(footprintOf(service.pid()).own)
    await delay(1000)
  }
  return quantile(samples, 0.5)
}

const wholeHandshake = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

const wholeRequest = ({ method, target, headers, body }: RequestInput): string => {
  const all = { host: 'x', ...headers, 'content-length': String(Buffer.byteLength(body ?? '')) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`
}

test(`resets and the largest inputs for ${MINUTES} minutes disturb no other client and leave no memory`, async (t) => {
  t.timeout((MINUTES + 10) * 60_000)
  const speaker = await service.user('speaker')
  const attacker = await service.user('attacker')
  const live = await speaker.createLive()
  const sender = await speaker.socket(live, 'sender')
  const stop = new AbortController()
  const speaking = speakUntil(sender, stop.signal)
  const idle = await healthTimes(1)

  // Without the routes that end the attacker's own login.
  const routes = ROUTES.filter(({ path }) => path !== '/logout')
  const authorization = `Bearer ${attacker.token ?? ''}`
  const inputs = routes.flatMap(largestInputs)
    .map((input) => ({ ...input, headers: { ...input.headers, authorization } }))
  const own = await attacker.createLive()
  const paths = ['/ws/live', '/ws/live?token=wrong-token', `${own.relative_path}?token=${own.sender_token}`]
  const attack: Attack = {
    port: Number(new URL(service.url()).port), from: ATTACKER, seed: chanceOf(t).seed,
    cut: [...inputs.map(wholeRequest), ...paths.map(wholeHandshake)], inputs,
    resetsPerSecond: 100, inputsPerSecond: 20,
  }
  const worker = new Worker(new URL('../../support/load/hostile-worker.ts', import.meta.url), { workerData: attack })
  let report: AttackReport = { resets: 0, statuses: {} }
  worker.on('message', (latest: AttackReport) => (report = latest))
  t.teardown(() => worker.terminate())
  await once(worker, 'message')

  const half = async (): Promise<readonly [times: ReadonlyArray<number>, memory: number]> => {
    const times = healthTimes(MINUTES / 2)
    await delay(Math.max(0, MINUTES / 2 - 1) * 60_000)
    const memory = await memoryOfMinute()
    return [await times, memory]
  }
  const finalsBefore = finals(sender).length
  const [firstTimes, firstMemory] = await half()
  const [secondTimes, secondMemory] = await half()
  await worker.terminate()
  stop.abort()
  await speaking
  t.is((await sender.closed).code, 1000)

  const slowdown = quantile([...firstTimes, ...secondTimes], 0.99) / quantile(idle, 0.99)
  t.log(`p99 ${slowdown.toFixed(2)} × idle (${quantile(idle, 0.99).toFixed(1)} ms), `
    + `${firstMemory.toFixed(0)} → ${secondMemory.toFixed(0)} MB, ${JSON.stringify(report)}`)
  t.true(report.resets >= 90 * 60 * MINUTES, `${report.resets} resets`)
  const answers = Object.values(report.statuses).reduce((sum, n) => sum + n, 0)
  t.true(answers >= 18 * 60 * MINUTES, `${answers} answers`)
  t.deepEqual(Object.keys(report.statuses).filter((status) => Number(status) === 0 || Number(status) >= 500), [])
  t.true(finals(sender).length - finalsBefore >= 4 * MINUTES, 'the speaker is transcribed all the time')
  t.notRegex(service.log(), /unexpected error/)
  t.true(slowdown <= MAX_SLOWDOWN, `${slowdown}`)
  t.true(secondMemory <= firstMemory * MAX_GROWTH, `${firstMemory} → ${secondMemory}`)
})
