import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { WebSocket } from 'ws'
import { comparableWords } from '../../../domain/transcript/word-alignment.ts'
import type { Client, LiveJson } from '../../support/service/client.ts'
import { patiently } from '../../support/tools/eventually.ts'
import {
  footprintOf, isFlat, quartersOf, describeGrowth, sampleFootprints, type Footprint,
} from '../../support/tools/footprint.ts'
import { transcribeAtFullSpeed } from '../../support/load/full-speed.ts'
import { inspect, prepareInspection, type Inspection } from '../../support/service/inspect.ts'
import { runTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

/** Minutes of audio that the first test sends. */
const AUDIO_MINUTES = Number(process.env['STENOLOG_TEST_HEARD_MINUTES'] ?? 60)
/** Minutes that the second test starts and ends sessions. */
const CHURN_MINUTES = Number(process.env['STENOLOG_TEST_CHURN_MINUTES'] ?? 30)
const LIVES_PER_MINUTE = 24
const LISTENERS = 500
/** Number of sessions at the same time. They share the listeners. */
const AT_ONCE = 4
/** Fraction of the second test after which nothing may grow. */
const WARM_UP = 1 / 6
/** Allowed heap growth for newly compiled code, in megabytes. */
const COMPILED_MB = 4

prepareInspection()
const service = await runTestService()
test.after.always(() => service.dispose())

test.serial('an hour of audio at full speed loses no text and leaks no memory', async (t) => {
  t.timeout(7_200_000)
  const all = await sampleSentences()
  const client = await service.user('hour')
  const pieces = all.flatMap(({ samples }) => [samples, silence(1)])
  const alone = (await transcribeAtFullSpeed(client, {}, pieces)).map(({ text }) => comparableWords(text).join(' '))
  t.true(alone.length >= all.length)
  const rounds = Math.ceil((AUDIO_MINUTES * 60 * 16_000) / pieces.reduce((sum, { length }) => sum + length, 0))
  const begin = performance.now()
  let finals: Awaited<ReturnType<typeof transcribeAtFullSpeed>> = []
  const samples = await sampleFootprints(service.pid(), 500, async () => {
    finals = await transcribeAtFullSpeed(client, {}, Array.from({ length: rounds }, () => pieces).flat())
  })
  const [own, engine] = [quartersOf(samples, 'own'), quartersOf(samples, 'children')]
  t.log(
    `${AUDIO_MINUTES} minutes in ${((performance.now() - begin) / 1000).toFixed(0)} s: ${finals.length} finals; ` +
      `service ${describeGrowth(own)} MB, engine ${describeGrowth(engine)} MB`,
  )
  const sentences = all.map(({ text }) => comparableWords(text).join(' ')).filter((text) => alone.includes(text))
  t.true(sentences.length >= 12)
  const counts = new Map<string, number>()
  for (const { text } of finals)
    counts.set(comparableWords(text).join(' '), (counts.get(comparableWords(text).join(' ')) ?? 0) + 1)
  t.deepEqual(
    sentences.filter((text) => counts.get(text) !== rounds).map((text) => [text, counts.get(text)]),
    [],
    'each sentence was transcribed as often as it was sent',
  )
  t.deepEqual(finals.map(({ segment }) => segment), finals.map((_, index) => index + 1))
  t.true(isFlat(own) && isFlat(engine), `${describeGrowth(own)}, ${describeGrowth(engine)}`)
})

/** Opens a listener and counts its final segments. */
const listen = async (
  live: LiveJson,
): Promise<{ readonly finals: () => number; readonly closed: Promise<unknown> }> => {
  const socket = new WebSocket(
    `${service.url().replace('http', 'ws')}${live.relative_path}?token=${live.listener_token}`,
  )
  let finals = 0
  socket.on('message', (data) => (finals += (data as Buffer).includes('"final":true') ? 1 : 0))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'open')
  return { finals: () => finals, closed }
}

interface SessionResult {
  /** Number of final segments of the session. */
  readonly finals: number
  /** Number of listeners that received another number of final segments. */
  readonly missing: number
}

/** Runs a session from its creation to its end, with its share of the listeners. */
const runSession = async (
  client: Client,
  speech: ReadonlyArray<Int16Array>,
  lastsMs: number,
): Promise<SessionResult> => {
  const begin = performance.now()
  // The server may close a kept connection just when the next request uses it.
  const created = await patiently(() => client.createLive())
  const listeners = await Promise.all(
    Array.from({ length: LISTENERS / AT_ONCE }, () => patiently(() => listen(created))),
  )
  const sender = await patiently(() => client.socket(created, 'sender'))
  sender.send({ type: 'config' })
  for (const samples of speech)
    for (let at = 0; at < samples.length; at += 3200) sender.sendAudio(samples.slice(at, at + 3200))
  await delay(Math.max(0, begin + lastsMs - performance.now()))
  sender.send({ type: 'FINISH' })
  const { code } = await sender.closed
  if (code !== 1000) throw new Error(`closed with ${code}`)
  await Promise.all(listeners.map(({ closed }) => closed))
  const finals = sender.frames.filter(({ final }) => final === true).length
  return { finals, missing: listeners.filter((listener) => listener.finals() !== finals).length }
}

/**
 * Inspects the service until at most `timers` timers run, because then it has dropped its ended sessions. After 70
 * seconds it returns the inspection with the fewest timers.
 */
const inspectAtRest = async (timers = 0): Promise<Inspection> => {
  let found = await inspect(service)
  for (let looks = 0; looks < 7 && found.timers > timers; looks += 1) {
    await delay(10_000)
    const next = await inspect(service)
    found = next.timers <= found.timers ? next : found
  }
  return found
}

test.serial(`${LIVES_PER_MINUTE} sessions a minute with ${LISTENERS} listeners leak nothing`, async (t) => {
  t.timeout((CHURN_MINUTES + 30) * 60_000)
  const client = await service.user('churn', { max_sessions: 1000 })
  const intervalMs = 60_000 / LIVES_PER_MINUTE
  const all = await sampleSentences()
  const startSession = (index: number): Promise<SessionResult> =>
    runSession(client, [all[index % all.length]?.samples ?? silence(1), silence(1.5)], intervalMs * AT_ONCE)
  await startSession(0)
  // The memory of the engine grows with the number of simultaneous jobs, so a burst brings it to its final level.
  const burst = async (): Promise<void> => {
    for (const { samples } of [...all, ...all]) await transcribeAtFullSpeed(client, {}, [samples, silence(1.5)])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, burst))
  const lives: Array<Promise<SessionResult>> = []
  const churn = async (minutes: number): Promise<ReadonlyArray<Footprint>> => {
    const begin = performance.now()
    const [first, beyond] = [lives.length, lives.length + minutes * LIVES_PER_MINUTE]
    return sampleFootprints(service.pid(), 1000, async () => {
      for (let index = first; index < beyond; index += 1) {
        lives.push(startSession(index))
        await delay(Math.max(0, begin + (index - first + 1) * intervalMs - performance.now()))
      }
      await Promise.all(lives)
    })
  }
  await churn(CHURN_MINUTES * WARM_UP)
  const [afterWarmUp, before] = [await inspectAtRest(), footprintOf(service.pid())]
  const samples = await churn(CHURN_MINUTES * (1 - WARM_UP))
  const results = await Promise.all(lives)
  t.deepEqual([...new Set(results.map(({ missing }) => missing))], [0], 'every listener had every final')
  // On a busy machine audio may arrive after the end of its session, so a few sessions have no text.
  const mute = results.filter(({ finals }) => finals === 0).length
  t.true(mute <= results.length / 20, `${mute} of ${results.length} sessions have no text`)
  const flat = (['own', 'children', 'descriptors', 'processes'] as const).map(
    (member) => [member, quartersOf(samples, member)] as const,
  )
  t.log(
    `${lives.length} sessions in ${CHURN_MINUTES} minutes, ${mute} without text; ` +
      'medians of the second and last quarter: ' +
      flat.map(([member, quarters]) => `${member} ${describeGrowth(quarters)}`).join(', '),
  )
  const atEnd = await inspectAtRest(afterWarmUp.timers)
  const rested = footprintOf(service.pid())
  t.log(
    `after the warm-up and at the end: timers ${afterWarmUp.timers} → ${atEnd.timers}, ` +
      `heap ${describeGrowth([afterWarmUp.heapMb, atEnd.heapMb])} MB, ` +
      `external ${describeGrowth([afterWarmUp.externalMb, atEnd.externalMb])} MB, ` +
      `descriptors ${before.descriptors} → ${rested.descriptors}, processes ${before.processes} → ${rested.processes}`,
  )
  t.true(atEnd.timers <= afterWarmUp.timers, `${afterWarmUp.timers} → ${atEnd.timers} timers`)
  t.true(
    atEnd.heapMb <= afterWarmUp.heapMb + COMPILED_MB,
    `heap ${describeGrowth([afterWarmUp.heapMb, atEnd.heapMb])} MB`,
  )
  t.true(
    atEnd.externalMb <= afterWarmUp.externalMb + COMPILED_MB,
    `external ${describeGrowth([afterWarmUp.externalMb, atEnd.externalMb])} MB`,
  )
  // The number of REST connections that are kept open varies.
  t.true(rested.descriptors <= before.descriptors + 8, `${before.descriptors} → ${rested.descriptors} descriptors`)
  t.is(rested.processes, before.processes)
  const metrics = (await client.get<string>('/metrics')).body
  t.regex(metrics, /^stenolog_live_lag_max_seconds 0$/m)
  t.regex(metrics, /^stenolog_vram_reserved_megabytes 0$/m)
  for (const [member, quarters] of flat)
    if (member !== 'descriptors') t.true(isFlat(quarters), `${member}: ${describeGrowth(quarters)}`)
})
