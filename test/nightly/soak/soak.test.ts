import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { WebSocket } from 'ws'
import { comparableWords } from '../../../domain/transcript/word-alignment.ts'
import type { Client, LiveJson } from '../../support/service/client.ts'
import { patiently } from '../../support/tools/eventually.ts'
import { footprintOf, isFlat, quartersOf, describeGrowth, sampleFootprints } from '../../support/tools/footprint.ts'
import type { Footprint } from '../../support/tools/footprint.ts'
import { transcribeAtFullSpeed } from '../../support/load/full-speed.ts'
import { inspect, prepareInspection } from '../../support/service/inspect.ts'
import type { Inspection } from '../../support/service/inspect.ts'
import { runTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

/** Minutes of audio, and of wall time. */
const HEARD = Number(process.env['STENOLOG_TEST_HEARD_MINUTES'] ?? 60)
const CHURNED = Number(process.env['STENOLOG_TEST_CHURN_MINUTES'] ?? 30)
const LIVES_A_MINUTE = 24
const LISTENERS = 500
/** Lives that overlap, and so share the listeners. */
const AT_ONCE = 4
/** Part of the churn after which nothing may grow any more. */
const WARM_UP = 1 / 6
/** Megabytes of a collected heap that code compiled meanwhile may take. */
const COMPILED_MB = 4

prepareInspection()
const service = await runTestService()
test.after.always(() => service.dispose())

test.serial('an hour at full speed: no text is lost and memory is flat (STENOLOG_TEST_HEARD_MINUTES)', async (t) => {
  t.timeout(7_200_000)
  const all = await sampleSentences()
  const client = await service.user('hour')
  const pieces = all.flatMap(({ samples }) => [samples, silence(1)])
  const alone = (await transcribeAtFullSpeed(client, {}, pieces)).map(({ text }) => comparableWords(text).join(' '))
  t.true(alone.length >= all.length)
  const rounds = Math.ceil((HEARD * 60 * 16_000) / pieces.reduce((sum, { length }) => sum + length, 0))
  const begin = performance.now()
  let finals: Awaited<ReturnType<typeof transcribeAtFullSpeed>> = []
  const samples = await sampleFootprints(service.pid(), 500, async () => {
    finals = await transcribeAtFullSpeed(client, {}, Array.from({ length: rounds }, () => pieces).flat())
  })
  const [own, engine] = [quartersOf(samples, 'own'), quartersOf(samples, 'children')]
  t.log(
    `${HEARD} minutes in ${((performance.now() - begin) / 1000).toFixed(0)} s: ${finals.length} finals; service ${describeGrowth(own)} MB, engine ${describeGrowth(engine)} MB`,
  )
  const sentences = all.map(({ text }) => comparableWords(text).join(' ')).filter((text) => alone.includes(text))
  t.true(sentences.length >= 12)
  const heard = new Map<string, number>()
  for (const { text } of finals)
    heard.set(comparableWords(text).join(' '), (heard.get(comparableWords(text).join(' ')) ?? 0) + 1)
  t.deepEqual(
    sentences.filter((text) => heard.get(text) !== rounds).map((text) => [text, heard.get(text)]),
    [],
    'each was heard as often as it was said',
  )
  t.deepEqual(finals.map(({ segment }) => segment), finals.map((_, index) => index + 1))
  t.true(isFlat(own) && isFlat(engine), `${describeGrowth(own)}, ${describeGrowth(engine)}`)
})

/** Opens a listener; its frames are counted. */
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

/** What became of a live: its finals, and how many of its listeners had others. */
interface Told {
  readonly finals: number
  readonly missing: number
}

/** A live from its creation to its end, with its share of the listeners. */
const live = async (client: Client, speech: ReadonlyArray<Int16Array>, lastsMs: number): Promise<Told> => {
  const begin = performance.now()
  // A kept connection may be closed while it is used for the next request.
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

/** What the service holds once what it keeps for a minute after an end is gone: at most `timers`, or the least that comes. */
const whenForgotten = async (timers = 0): Promise<Inspection> => {
  let found = await inspect(service)
  for (let looks = 0; looks < 7 && found.timers > timers; looks += 1) {
    await delay(10_000)
    const next = await inspect(service)
    found = next.timers <= found.timers ? next : found
  }
  return found
}

test.serial(`${LIVES_A_MINUTE} lives a minute with ${LISTENERS} listeners leave nothing behind (STENOLOG_TEST_CHURN_MINUTES) [F21]`, async (t) => {
  t.timeout((CHURNED + 30) * 60_000)
  const client = await service.user('churn', { max_sessions: 1000 })
  const every = 60_000 / LIVES_A_MINUTE
  const all = await sampleSentences()
  const one = (index: number): Promise<Told> =>
    live(client, [all[index % all.length]?.samples ?? silence(1), silence(1.5)], every * AT_ONCE)
  await one(0)
  // The engine's memory comes to its level with how many jobs meet, not with time: 4,115 lives seen after a hundred of these left it there.
  const burst = async (): Promise<void> => {
    for (const { samples } of [...all, ...all]) await transcribeAtFullSpeed(client, {}, [samples, silence(1.5)])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, burst))
  const lives: Array<Promise<Told>> = []
  const churn = async (minutes: number): Promise<ReadonlyArray<Footprint>> => {
    const begin = performance.now()
    const [first, beyond] = [lives.length, lives.length + minutes * LIVES_A_MINUTE]
    return sampleFootprints(service.pid(), 1000, async () => {
      for (let index = first; index < beyond; index += 1) {
        lives.push(one(index))
        await delay(Math.max(0, begin + (index - first + 1) * every - performance.now()))
      }
      await Promise.all(lives)
    })
  }
  await churn(CHURNED * WARM_UP)
  const [settled, before] = [await whenForgotten(), footprintOf(service.pid())]
  const samples = await churn(CHURNED * (1 - WARM_UP))
  const told = await Promise.all(lives)
  t.deepEqual([...new Set(told.map(({ missing }) => missing))], [0], 'every listener had every final')
  // A machine that stands still at the end of a live leaves no time for its last words.
  const mute = told.filter(({ finals }) => finals === 0).length
  t.true(mute <= told.length / 20, `${mute} of ${told.length} lives heard nothing`)
  const flat = (['own', 'children', 'descriptors', 'processes'] as const).map(
    (member) => [member, quartersOf(samples, member)] as const,
  )
  t.log(
    `${lives.length} lives in ${CHURNED} minutes, ${mute} of them heard nothing; medians of the second and the last quarter: ${flat.map(([member, quarters]) => `${member} ${describeGrowth(quarters)}`).join(', ')}`,
  )
  const left = await whenForgotten(settled.timers)
  const rested = footprintOf(service.pid())
  t.log(
    `at rest after the warm-up and at the end: timers ${settled.timers} → ${left.timers}, heap ${describeGrowth([settled.heapMb, left.heapMb])} MB, ` +
      `external ${describeGrowth([settled.externalMb, left.externalMb])} MB, descriptors ${before.descriptors} → ${rested.descriptors}, processes ${before.processes} → ${rested.processes}`,
  )
  t.true(left.timers <= settled.timers, `${settled.timers} → ${left.timers} timers`)
  t.true(left.heapMb <= settled.heapMb + COMPILED_MB, `heap ${describeGrowth([settled.heapMb, left.heapMb])} MB`)
  t.true(
    left.externalMb <= settled.externalMb + COMPILED_MB,
    `external ${describeGrowth([settled.externalMb, left.externalMb])} MB`,
  )
  // Kept connections of REST may come and go.
  t.true(rested.descriptors <= before.descriptors + 8, `${before.descriptors} → ${rested.descriptors} descriptors`)
  t.is(rested.processes, before.processes)
  const metrics = (await client.get<string>('/metrics')).body
  t.regex(metrics, /^stenolog_live_lag_max_seconds 0$/m)
  t.regex(metrics, /^stenolog_vram_reserved_megabytes 0$/m)
  for (const [member, quarters] of flat)
    if (member !== 'descriptors') t.true(isFlat(quarters), `${member}: ${describeGrowth(quarters)}`)
})
