import { setTimeout as delay } from 'node:timers/promises'
import test from 'ava'
import { garbage } from '../../../bench/audio.ts'
import { comparableWords } from '../../../domain/transcript/word-alignment.ts'
import type { Client, Json, TestSocket } from '../../support/service/client.ts'
import { runTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

const LIVES = 8
const MAX_DELAY = 5
/** Number of samples in one message, and their duration. */
const CHUNK = 1600
const CHUNK_MS = 100

const service = await runTestService()
test.after.always(() => service.dispose())

/** A final segment, and its delay in seconds after the audio of its end was sent. */
interface FinalSegment {
  readonly text: string
  readonly delay: number
}

const joined = (parts: ReadonlyArray<Int16Array>): Int16Array => {
  const all = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0))
  parts.reduce((at, part) => (all.set(part, at), at + part.length), 0)
  return all
}

/** Sends audio in real time or at full speed. Returns the final segments in order. */
const speak = async (
  client: Client,
  config: Json,
  audio: Int16Array,
  pace: 'real time' | 'at once' = 'real time',
): Promise<ReadonlyArray<FinalSegment>> => {
  const sender: TestSocket = await client.socket(await client.createLive({ config }), 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const begin = performance.now()
  const finals: Array<FinalSegment> = []
  const collect = (): void => {
    for (const { text, end } of sender.frames.filter(({ final }) => final === true).slice(finals.length))
      finals.push({ text: String(text).replaceAll('\n', ' '), delay: (performance.now() - begin) / 1000 - Number(end) })
  }
  for (let at = 0; at < audio.length; at += CHUNK) {
    sender.sendAudio(audio.slice(at, at + CHUNK))
    if (pace === 'real time') await delay(Math.max(0, begin + (at / CHUNK + 1) * CHUNK_MS - performance.now()))
    collect()
  }
  sender.send({ type: 'FINISH' })
  const { code } = await sender.closed
  if (code !== 1000) throw new Error(`closed with ${code}: ${sender.texts.at(-1)}`)
  collect()
  return finals
}

const textOf = (finals: ReadonlyArray<FinalSegment>): string =>
  comparableWords(finals.map(({ text }) => text).join(' ')).join(' ')

const p95 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1] ?? Number.NaN

/** Samples the largest session lag four times a second until the signal aborts. */
const sampleLags = async (client: Client, signal: AbortSignal): Promise<ReadonlyArray<number>> => {
  const samples: Array<number> = []
  while (!signal.aborted) {
    const { body } = await client.get<string>('/metrics')
    samples.push(Number(/^stenolog_live_lag_max_seconds (\S+)$/m.exec(body)?.[1]))
    await delay(250)
  }
  return samples
}

test.serial('8 sessions in real time get every word while another session sends noise', async (t) => {
  t.timeout(1_200_000)
  const client = await service.user('speakers', { max_sessions: LIVES + 1 })
  const all = await sampleSentences()
  // Sentences that the model transcribes wrongly even without load are left out.
  const allSpeech = joined(all.flatMap(({ samples }) => [samples, silence(1)]))
  const textWithoutLoad = textOf(await speak(client, {}, allSpeech, 'at once'))
  const sentences = all.filter(({ text }) => textWithoutLoad.includes(comparableWords(text).join(' ')))
  t.true(sentences.length >= 12, textWithoutLoad)
  const orders = Array.from({ length: LIVES }, (_, live) =>
    sentences.map((_, index) => sentences[(index + live) % sentences.length] ?? sentences[0]),
  )
  const speeches = orders.map((order) =>
    joined(order.flatMap((sentence) => [sentence?.samples ?? silence(0), silence(1)])),
  )
  const seconds = (speeches[0]?.length ?? 0) / 16_000
  const stop = new AbortController()
  const watching = sampleLags(service.anonymous(), stop.signal)
  // Without the voice detector all noise reaches the model.
  const noiseSession = speak(client, { vad: false, max_delay: MAX_DELAY }, garbage(Math.ceil(seconds)))
  const transcripts = await Promise.all(speeches.map((speech) => speak(client, { max_delay: MAX_DELAY }, speech)))
  const noiseFinals = await noiseSession
  stop.abort()

  for (const [live, finals] of transcripts.entries()) {
    const spoken = comparableWords((orders[live] ?? []).map((sentence) => sentence?.text).join(' ')).join(' ')
    t.is(textOf(finals), spoken, `session ${live}`)
    t.true(finals.length >= sentences.length, 'each sentence has a final segment')
  }
  t.is((await client.get('/health/ready')).status, 200)
  t.log(
    `${LIVES} sessions of ${seconds.toFixed(0)} s: p95 of the lag ${p95(await watching).toFixed(2)} s ` +
      `(max_delay ${MAX_DELAY} s), p95 from the end of a segment to its final ` +
      `${p95(transcripts.flat().map((final) => final.delay)).toFixed(2)} s; noise gave ${noiseFinals.length} finals`,
  )
})
