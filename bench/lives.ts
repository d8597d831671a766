import { setTimeout as delay } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import { createLivePipeline } from '../application/pipeline/live-pipeline.ts'
import { createScheduler, type Scheduler } from '../application/pipeline/scheduler.ts'
import { SAMPLE_RATE, type SpeechEngine } from '../application/ports/engine.ts'
import type { LivePipeline } from '../application/pipeline/pipeline.ts'
import { DEFAULT_ENGINE_SETTINGS as SETTINGS, type EngineSettings } from '../domain/live/settings.ts'
import { createSpeechEngine } from '../infrastructure/onnx/process/engine-client.ts'
import { systemTimers as timers } from '../infrastructure/process/system-timers.ts'
import { demoSpeech, QUIET } from './audio.ts'
import type { Benchmark, Contest, Round, Skipped } from './harness.ts'
import { openOneThreadEngine } from './one-thread-engine.ts'
import { openTinyModel, TINY_ABSENT } from './tiny-model.ts'

const TOKENS = 40
const CHUNK_MS = 100
const CHUNK = (SAMPLE_RATE * CHUNK_MS) / 1000
/** Duration of a trial. Lags count only after WARM_UP_MS, because the queues fill at first. */
const TRIAL_MS = 20_000
const WARM_UP_MS = 8_000
/** Each session starts this many samples later in the speech. */
const OFFSET_SAMPLES = 3.7 * SAMPLE_RATE

const monotonic = (): number => performance.now()

/** Creates the scheduler that orders the jobs of an engine. */
type Order = (engine: SpeechEngine) => Scheduler

/** Runs the jobs in the order of their arrival, like a lock. */
const inOrder: Order = (engine) =>
  ({ transcribe: (_live, _deadline, job) => engine.transcribe(job), withdraw: () => undefined })

/** Measures the lag of every pass in milliseconds: from the arrival of its oldest new audio to the answer. */
const measuredLags = (order: Scheduler) => {
  const lags: Array<number> = []
  const waiting = new Set<number>()
  const answers = new Set<Promise<unknown>>()
  let counts = false
  const scheduler: Scheduler = {
    ...order,
    transcribe: async (live, deadline, job) => {
      const arrival = deadline - SETTINGS.max_delay * 1000
      waiting.add(arrival)
      const answering = order.transcribe(live, deadline, job)
      answers.add(answering)
      const answer = await answering
      answers.delete(answering)
      waiting.delete(arrival)
      if (counts) lags.push(monotonic() - arrival)
      return answer
    },
  }
  return {
    scheduler,
    count: () => void (counts = true),
    /** Waits for all open jobs, because they would slow down the next trial. */
    settled: async () => void (await Promise.allSettled(answers)),
    /** Returns the 95th percentile. Unanswered passes count with their waiting time. */
    p95: (): number => {
      const all = [...lags, ...[...waiting].map((arrival) => monotonic() - arrival)].toSorted((a, b) => a - b)
      return all[Math.ceil(0.95 * all.length) - 1] ?? Infinity
    },
  }
}

/** Sends the speech in real time in a loop until the signal aborts. */
const speak = async (
  pipeline: LivePipeline,
  samples: Int16Array,
  offset: number,
  signal: AbortSignal,
): Promise<void> => {
  const begin = monotonic()
  for (let sent = 0; !signal.aborted; sent += 1) {
    const from = (offset + sent * CHUNK) % (samples.length - CHUNK)
    pipeline.push(samples.subarray(from, from + CHUNK))
    await delay(Math.max(0, begin + (sent + 1) * CHUNK_MS - monotonic()))
  }
}

/** The audio and settings of a session. */
interface Speaker {
  readonly samples: Int16Array
  readonly settings: EngineSettings
}

/**
 * Returns the 95th percentile of the lag of simultaneous sessions in real time, in milliseconds. All sessions have an
 * equal max_delay.
 */
export const lagOf = async (
  engine: SpeechEngine,
  order: Order,
  model: string,
  speakers: ReadonlyArray<Speaker>,
): Promise<number> => {
  const { scheduler, count, p95, settled } = measuredLags(order(engine))
  const stop = new AbortController()
  const create = createLivePipeline({ engine, scheduler, monotonic, timers })
  const pipelines = speakers.map(({ settings }, liveId) =>
    create({
      liveId,
      model,
      language: 'en',
      settings,
      nextSegment: 1,
      events: {
        partial: () => undefined,
        final: () => Promise.resolve(),
        failed: ({ reason }) => console.error(reason),
        drained: () => undefined,
      },
    }),
  )
  const started = await Promise.all(pipelines.map((pipeline) => pipeline.start()))
  if (started.some(E.isLeft)) throw new Error('a session did not start')
  const speaking = pipelines.map(
    (pipeline, i) => speak(
      pipeline,
      speakers[i]?.samples ?? new Int16Array(CHUNK),
      Math.round(i * OFFSET_SAMPLES),
      stop.signal,
    ),
  )
  await delay(WARM_UP_MS)
  count()
  await delay(TRIAL_MS - WARM_UP_MS)
  const lag = p95()
  stop.abort()
  for (const pipeline of pipelines) pipeline.abort()
  await Promise.all(speaking)
  await settled()
  return lag
}

/** Returns whether this number of simultaneous sessions stays within max_delay. */
const passesTrial = async (
  engine: SpeechEngine,
  order: Order,
  model: string,
  samples: Int16Array,
  lives: number,
): Promise<boolean> => {
  const speakers = Array.from({ length: lives }, () => ({ samples, settings: SETTINGS }))
  return (await lagOf(engine, order, model, speakers)) <= SETTINGS.max_delay * 1000
}

/** Creates the search for the greatest number of sessions: it grows by half until a trial fails, then bisects. */
const createSearch = (first: number) => {
  // The largest number of sessions that passed a trial, and the smallest number that failed.
  let [passed, failed] = [0, Infinity]
  return {
    next: (): number | null => {
      if (failed - passed <= 1) return null
      return failed === Infinity ? Math.max(first, Math.ceil(passed * 1.5)) : Math.floor((passed + failed) / 2)
    },
    record: (lives: number, hasPassed: boolean): void => {
      if (hasPassed) passed = lives
      else failed = lives
    },
    passed: () => passed,
  }
}

const contest = async (): Promise<Contest | Skipped> => {
  const tiny = await openTinyModel(TOKENS)
  if (tiny === null) return TINY_ABSENT
  const { samples } = await demoSpeech()
  const ours = createSpeechEngine({ models: new Map([[tiny.name, tiny.folder]]), logger: QUIET })
  const peer = openOneThreadEngine(tiny.folder)
  const sides = [
    { engine: ours, order: (engine: SpeechEngine) => createScheduler(engine, monotonic), search: createSearch(6) },
    { engine: peer, order: inOrder, search: createSearch(4) },
  ] as const
  // Trials alternate between the sides, so other load on the machine affects both.
  const searched = async (): Promise<void> => {
    for (let open = true; open; ) {
      open = false
      for (const { engine, order, search } of sides) {
        const lives = search.next()
        if (lives === null) continue
        open = true
        search.record(lives, await passesTrial(engine, order, tiny.name, samples, lives))
      }
    }
  }
  let both: Promise<void> | null = null
  const result = async (side: 0 | 1): Promise<Round> => {
    both ??= searched()
    await both
    return { work: sides[side].search.passed(), seconds: 1, cpuSeconds: null }
  }
  return {
    ours: () => result(0),
    peers: () => result(1),
    close: async () => {
      await Promise.all([ours.close(), peer.close()])
      await tiny.remove()
    },
  }
}

export const lives: Benchmark = {
  name: 'lives',
  meaning: `sessions of whisper-tiny-random in real time with a p95 lag within max_delay (${SETTINGS.max_delay} s), `
    + `${TOKENS} tokens per pass, on our engine and scheduler`,
  peer: 'the same pipelines on one thread with one lock: one set of ONNX sessions, one intra-op thread, one job at a '
    + 'time, first come first served',
  unit: 'sessions',
  basis: 'count',
  atLeast: 1.6,
  rounds: 1,
  warmUp: false,
  prepare: contest,
}
