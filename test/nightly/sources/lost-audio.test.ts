import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { createLiveBus } from '../../../application/pipeline/live-bus.ts'
import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import type { StartPuller } from '../../../application/ports/audio-source.ts'
import { SAMPLE_RATE, VAD_FRAME, type SpeechEngine } from '../../../application/ports/engine.ts'
import { createLiveSessions } from '../../../application/running/live-sessions.ts'
import { createTranslations } from '../../../application/pipeline/translations.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { createPullers } from '../../../infrastructure/sources/puller/puller-client.ts'
import { FFMPEG, filesOf, serve, withFfmpeg } from '../../support/sources/audio-server.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { createMemoryLifecycle } from '../../support/doubles/memory/lifecycle.ts'
import { ISOLATED } from '../../support/sources/pulling.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import { createScriptedTranslator } from '../../support/doubles/scripted/translator.ts'
import { forwardEnds } from '../../support/worlds/session-world.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { toneOf, tonesIn } from '../../support/audio/tones.ts'

const HOURS = 3
/** Each word has this many seconds of the recording. It starts with a pause. */
const PERIOD_SECONDS = 5
const PAUSE_SECONDS = 0.5
/** A word is two tones. Each tone stands for one digit of the number of the word, in base 60. */
const [TONE_SECONDS, BASE] = [0.4, 60]
const WORDS = (HOURS * 3600) / PERIOD_SECONDS
const SEGMENT_SECONDS = 6
/** Numbers of the lost segments: ten losses of one or two segments. */
const LOST = [[100], [250, 251], [400], [555, 556], [700], [900], [1100, 1101], [1300], [1500], [1700, 1701]]
/** These segments follow a loss and start with a discontinuity. */
const DISCONTINUITIES = new Set([901, 1301])
/** Segments whose first request fails. The puller requests them again. */
const FAILING_ONCE = new Set([300, 1200])
const MAX_DEVIATION_SECONDS = 0.5

/** Returns the second of the recording at which a word starts. */
const startOf = (word: number): number => word * PERIOD_SECONDS + PAUSE_SECONDS

/** Returns the samples of one word and the silence around it. */
const samplesOf = (word: number): Int16Array => {
  const samples = new Int16Array(PERIOD_SECONDS * SAMPLE_RATE)
  for (const [index, digit] of [Math.floor(word / BASE), word % BASE].entries()) {
    const from = (PAUSE_SECONDS + index * TONE_SECONDS) * SAMPLE_RATE
    const step = (2 * Math.PI * toneOf(digit)) / SAMPLE_RATE
    for (let at = 0; at < TONE_SECONDS * SAMPLE_RATE; at += 1) samples[from + at] = 10_000 * Math.sin(step * at)
  }
  return samples
}

/** Writes the recording as HLS. */
const packageWords = async (folder: string): Promise<void> => {
  const input = ['-f', 's16le', '-ar', String(SAMPLE_RATE), '-ac', '1', '-i', 'pipe:0']
  const hls = ['-f', 'hls', '-hls_time', String(SEGMENT_SECONDS), '-hls_playlist_type', 'vod', '-hls_list_size', '0']
  const args = ['-v', 'error', ...input, '-c:a', 'aac', '-b:a', '32k', ...hls, 'index.m3u8']
  const ffmpeg = spawn(FFMPEG, args, { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] })
  const exited = once(ffmpeg, 'exit')
  for (let word = 0; word < WORDS; word += 1) {
    const samples = samplesOf(word)
    if (!ffmpeg.stdin.write(Buffer.from(samples.buffer))) await once(ffmpeg.stdin, 'drain')
  }
  ffmpeg.stdin.end()
  assert.deepEqual(await exited, [0, null])
}

const isLoud = (frame: Int16Array): boolean =>
  frame.reduce((sum, sample) => sum + sample * sample, 0) / frame.length > 1e6

/** Returns the loud ranges as pairs of sample numbers, in steps of 20 ms. */
const loudIn = (samples: Int16Array): ReadonlyArray<readonly [number, number]> => {
  const runs: Array<[number, number]> = []
  for (let at = 0; at + 320 <= samples.length; at += 320) {
    if (!isLoud(samples.subarray(at, at + 320))) continue
    const last = runs.at(-1)
    if (last?.[1] === at) last[1] = at + 320
    else runs.push([at, at + 320])
  }
  return runs
}

/** Returns the number of the tone that lasts longest. */
const digitIn = (samples: Int16Array): number | undefined =>
  [...tonesIn(samples)].toSorted(([, a], [, b]) => b - a)[0]?.[0]

/** An engine that recognises the numbers of complete words. */
const engine: Pick<SpeechEngine, 'load' | 'detectSpeech' | 'transcribe' | 'deviceOf' | 'passTime'> = {
  deviceOf: () => ({ name: 'cpu', lanes: 1 }),
  passTime: () => null,
  load: async () => E.right({ windowSeconds: 30 }),
  detectSpeech: async (samples) => {
    const frame = (index: number): Int16Array => samples.subarray(index * VAD_FRAME, (index + 1) * VAD_FRAME)
    const judge = (_: number, index: number): number => (isLoud(frame(index)) ? 0.95 : 0.05)
    const probabilities = new Float32Array(samples.length / VAD_FRAME).map(judge)
    return E.right({ probabilities, state: null })
  },
  transcribe: async ({ samples }) => {
    const segments = loudIn(samples).flatMap(([from, to]) => {
      const middle = from + TONE_SECONDS * SAMPLE_RATE
      const [high, low] = [digitIn(samples.subarray(from, middle)), digitIn(samples.subarray(middle, to))]
      const isWhole = high !== undefined && low !== undefined && to - from >= 0.75 * SAMPLE_RATE
      return isWhole ? [{ start: from / SAMPLE_RATE, end: to / SAMPLE_RATE, text: `word${high * BASE + low}` }] : []
    })
    return E.right({ segments, avgLogprob: -0.2, noSpeechProb: 0, compressionRatio: 1.2 })
  },
}

/** Wraps a puller so that it sends no media times. Positions then come from counted samples only. */
const untimed = (start: StartPuller): StartPuller => (events) =>
  start({ ...events, stretch: () => undefined, audio: (samples) => events.audio(samples, null) })

/** Transcribes the source. Returns the start of each word by its number, in seconds of the session. */
const transcribeSource = async (t: ExecutionContext, audioUrl: string, wrap: (start: StartPuller) => StartPuller) => {
  const lifecycle = createMemoryLifecycle()
  const logger = createRecordingLogger()
  const rules = () => ({ allow: ['127.0.0.1/32'], ownPort: null })
  const [timers, monotonic] = [systemTimers, () => performance.now()]
  const bus = createLiveBus({ logger })
  const sessions = createLiveSessions({
    lifecycle, timers, bus, logger,
    createPipeline: createLivePipeline({ engine, scheduler: createScheduler(engine, monotonic), monotonic, timers }),
    startPuller: wrap(createPullers({ rules, isolation: ISOLATED })),
    translations: createTranslations({ engine: createScriptedTranslator({ answers: true }), monotonic, logger }),
    environment: { random: () => 0.5, monotonic },
    reconnectGrace: 0,
  })
  const stopForwarding = forwardEnds(lifecycle, sessions)
  t.teardown(async () => {
    await stopForwarding()
    await sessions.close()
  })
  const live = lifecycle.add({ audioFormat: 'hls', audioUrl, autoStart: true })
  sessions.runs.pull(live.id, lifecycle.attached(live.id), lifecycle.pointOf(live.id))
  const assertEnded = () => assert.deepEqual(live.cause, { status: 'finished', reason: 'source_ended' })
  await eventually(assertEnded, { timeoutMs: 1_800_000 })
  const words = live.segments.map(({ text, start }) => [Number(/\d+/.exec(text)?.[0]), start] as const)
  return { words: new Map(words), lost: sessions.lostSeconds() }
}

withFfmpeg(`words of ${HOURS} hours with ${LOST.length} losses keep their recorded times`, async (t) => {
  t.timeout(3_600_000)
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await packageWords(path)
  const recorded = await readFile(join(path, 'index.m3u8'), 'utf8')
  const playlist = recorded.replaceAll(/^#EXTINF:.*\nindex(\d+)\.ts$/gm, (entry, number) =>
    DISCONTINUITIES.has(Number(number)) ? `#EXT-X-DISCONTINUITY\n${entry}` : entry)
  const files = filesOf(path)
  const lost = new Set(LOST.flat())
  const play = async () => {
    const failing = new Set(FAILING_ONCE)
    return serve(t, (request, response) => {
      const number = Number(/^\/index(\d+)\.ts/.exec(request.url ?? '')?.[1])
      if (request.url === '/index.m3u8') response.end(playlist)
      else if (lost.has(number)) response.writeHead(404).end()
      else if (failing.delete(number)) response.writeHead(500).end()
      else files(request, response)
    })
  }
  const startedAt = performance.now()
  const timed = await transcribeSource(t, (await play()).url('index.m3u8'), (start) => start)
  const seconds = (performance.now() - startedAt) / 1000
  const counted = await transcribeSource(t, (await play()).url('index.m3u8'), untimed)

  const worst = (words: ReadonlyMap<number, number>): number =>
    Math.max(...[...words].map(([word, start]) => Math.abs(start - startOf(word))))
  const whole = Array.from({ length: WORDS }, (_, word) => word).filter((word) =>
    [...lost].every((segment) =>
      startOf(word) + 1 < segment * SEGMENT_SECONDS || startOf(word) > (segment + 1) * SEGMENT_SECONDS))
  t.log(
    `${WORDS} words, ${timed.words.size} transcribed in ${seconds.toFixed(0)} s, ${timed.lost.toFixed(1)} s lost: ` +
      `at most ${worst(timed.words).toFixed(3)} s off; by counted samples ${worst(counted.words).toFixed(1)} s`,
  )
  t.deepEqual(whole.filter((word) => !timed.words.has(word)), [], 'every word outside the losses is transcribed')
  t.true(worst(timed.words) <= MAX_DEVIATION_SECONDS)
  t.true(Math.abs(timed.lost - lost.size * SEGMENT_SECONDS) < 1)
  t.true(worst(counted.words) > 0.9 * lost.size * SEGMENT_SECONDS, 'times drift without media times')
  t.is(counted.lost, 0)
})
