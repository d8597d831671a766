import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { WebSocket } from 'ws'
import { comparableWords } from '../../interfaces/cli/word-alignment.ts'
import type { Client, LiveJson } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { footprintOf, quartersOf } from '../support/footprint.ts'
import type { Footprint } from '../support/footprint.ts'
import { transcribeAtFullSpeed } from '../support/full-speed.ts'
import { runTestService } from '../support/service.ts'
import { sampleSentences, silence } from '../support/speech.ts'

/** Minutes of audio, and of wall time. */
const HEARD = Number(process.env['STENOLOG_TEST_HEARD_MINUTES'] ?? 60)
const CHURNED = Number(process.env['STENOLOG_TEST_CHURN_MINUTES'] ?? 30)
const LIVES_A_MINUTE = 24
const LISTENERS = 500
/** Lives that overlap, and so share the listeners. */
const AT_ONCE = 4
/** F21 has 5 % for a day; a short run still warms up, and memory is taken and given back in steps. */
const GROWTH = 1.1
const STEP_MB = 12

const service = await runTestService()
test.after.always(() => service.dispose())

const watched = async (act: () => Promise<void>, everyMs: number): Promise<ReadonlyArray<Footprint>> => {
  const samples: Array<Footprint> = []
  const timer = setInterval(() => samples.push(footprintOf(service.pid())), everyMs)
  try {
    await act()
  } finally {
    clearInterval(timer)
  }
  return samples
}

const isFlat = ([second, last]: readonly [number, number]): boolean => last <= second * GROWTH + STEP_MB
const shown = ([second, last]: readonly [number, number]): string => `${second.toFixed(0)} → ${last.toFixed(0)}`

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
  const samples = await watched(async () => {
    finals = await transcribeAtFullSpeed(client, {}, Array.from({ length: rounds }, () => pieces).flat())
  }, 500)
  const [own, engine] = [quartersOf(samples, 'own'), quartersOf(samples, 'children')]
  t.log(`${HEARD} minutes in ${((performance.now() - begin) / 1000).toFixed(0)} s: ${finals.length} finals; service ${shown(own)} MB, engine ${shown(engine)} MB`)
  const sentences = all.map(({ text }) => comparableWords(text).join(' ')).filter((text) => alone.includes(text))
  t.true(sentences.length >= 12)
  const heard = new Map<string, number>()
  for (const { text } of finals) heard.set(comparableWords(text).join(' '), (heard.get(comparableWords(text).join(' ')) ?? 0) + 1)
  t.deepEqual(sentences.filter((text) => heard.get(text) !== rounds).map((text) => [text, heard.get(text)]), [], 'each was heard as often as it was said')
  t.deepEqual(finals.map(({ segment }) => segment), finals.map((_, index) => index + 1))
  t.true(isFlat(own) && isFlat(engine), `${shown(own)}, ${shown(engine)}`)
})

/** Opens a listener; its frames are counted. */
const listen = async (live: LiveJson): Promise<{ readonly finals: () => number; readonly closed: Promise<unknown> }> => {
  const socket = new WebSocket(`${service.url().replace('http', 'ws')}${live.relative_path}?token=${live.listener_token}`)
  let finals = 0
  socket.on('message', (data) => (finals += (data as Buffer).includes('"final":true') ? 1 : 0))
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'open')
  return { finals: () => finals, closed }
}

/** A live from its creation to its end, with its share of the listeners; how many of them missed a final. */
const live = async (client: Client, speech: ReadonlyArray<Int16Array>, lastsMs: number): Promise<number> => {
  const begin = performance.now()
  const created = await client.createLive()
  const listeners = await Promise.all(Array.from({ length: LISTENERS / AT_ONCE }, () => eventually(() => listen(created))))
  const sender = await client.socket(created, 'sender')
  sender.send({ type: 'config' })
  for (const samples of speech) for (let at = 0; at < samples.length; at += 3200) sender.sendAudio(samples.slice(at, at + 3200))
  await delay(Math.max(0, begin + lastsMs - performance.now()))
  sender.send({ type: 'FINISH' })
  const { code } = await sender.closed
  if (code !== 1000) throw new Error(`closed with ${code}`)
  await Promise.all(listeners.map(({ closed }) => closed))
  const finals = sender.frames.filter(({ final }) => final === true).length
  if (finals === 0) throw new Error('nothing was heard')
  return listeners.filter((listener) => listener.finals() !== finals).length
}

test.serial(`F21: ${LIVES_A_MINUTE} lives a minute with ${LISTENERS} listeners leave nothing behind (STENOLOG_TEST_CHURN_MINUTES)`, async (t) => {
  t.timeout((CHURNED + 10) * 60_000)
  const client = await service.user('churn', { max_sessions: 1000 })
  const every = 60_000 / LIVES_A_MINUTE
  const all = await sampleSentences()
  const one = (index: number): Promise<number> => live(client, [all[index % all.length]?.samples ?? silence(1), silence(1.5)], every * AT_ONCE)
  await one(0)
  const before = footprintOf(service.pid())
  const lives: Array<Promise<number>> = []
  const samples = await watched(async () => {
    const begin = performance.now()
    for (let index = 0; index < CHURNED * LIVES_A_MINUTE; index += 1) {
      lives.push(one(index))
      await delay(Math.max(0, begin + (index + 1) * every - performance.now()))
    }
    await Promise.all(lives)
  }, 1000)
  t.deepEqual([...new Set(await Promise.all(lives))], [0], 'every listener had every final')
  const flat = (['own', 'children', 'descriptors', 'processes'] as const).map((member) => [member, quartersOf(samples, member)] as const)
  t.log(`${lives.length} lives in ${CHURNED} minutes; medians of the second and the last quarter: ${flat.map(([member, quarters]) => `${member} ${shown(quarters)}`).join(', ')}`)
  // Kept connections of REST may come and go.
  await eventually(() => {
    const { descriptors, processes } = footprintOf(service.pid())
    if (descriptors > before.descriptors + 8 || processes !== before.processes) throw new Error(`${descriptors} descriptors, ${processes} processes`)
  })
  const metrics = (await client.get<string>('/metrics')).body
  t.regex(metrics, /^stenolog_live_lag_max_seconds 0$/m)
  t.regex(metrics, /^stenolog_vram_reserved_megabytes 0$/m)
  for (const [member, quarters] of flat) if (member !== 'descriptors') t.true(isFlat(quarters), `${member}: ${shown(quarters)}`)
})
