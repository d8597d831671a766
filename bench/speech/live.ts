import { setTimeout as delay } from 'node:timers/promises'
import { createLivePipeline } from '../../application/pipeline/live-pipeline.ts'
import type { CreatePipeline, Segment } from '../../application/pipeline/pipeline.ts'
import { createScheduler, type Scheduler } from '../../application/pipeline/scheduler.ts'
import { SAMPLE_RATE, type SpeechEngine } from '../../application/ports/engine.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { systemTimers as timers } from '../../infrastructure/process/system-timers.ts'
import { cpuSecondsOf } from '../cpu-time.ts'
import { observed } from '../recorded-live.ts'

/** Samples of one client frame: 100 ms. */
const CHUNK_SAMPLES = SAMPLE_RATE / 10
const FINISH_MS = 600_000

/** A segment that the pipeline published. */
export interface Frame extends Segment {
  /** Time of the frame, in seconds of audio. */
  readonly at: number
  readonly final: boolean
}

export interface LiveRun {
  readonly frames: ReadonlyArray<Frame>
  readonly passes: number
  /** CPU seconds of the engine's process. Null without /proc, or when sessions share the engine. */
  readonly engineCpu: number | null
  /** CPU seconds of this process, including other recordings that run at the same time. */
  readonly ownCpu: number
}

export interface LiveOptions {
  readonly model: string
  readonly settings: EngineSettings
  /**
   * `max`: a chunk arrives when all work for the chunk before it is done. Only audio time counts then, so the text does
   * not depend on the machine. `real`: chunks arrive in real time.
   */
  readonly speed: 'max' | 'real'
  /** Seconds that a pass of the model takes at speed `max`, in audio time. */
  readonly passSeconds: number
  /** Task and vocabulary of the session. */
  readonly wishes?: Pick<Parameters<CreatePipeline>[0], 'task' | 'vocabulary'>
  /** The scheduler of sessions that share the engine in real time. */
  readonly scheduler?: Scheduler
}

let lastLive = 0

/** Creates a clock in seconds of audio. It moves only through `advance`. */
const createAudioClock = () => {
  let now = 0
  const waiting = new Set<{ readonly at: number; readonly wake: () => void }>()
  return {
    now: () => now,
    isAwaited: () => waiting.size > 0,
    until: (at: number): Promise<void> =>
      at <= now ? Promise.resolve() : new Promise((wake) => void waiting.add({ at, wake })),
    advance: (seconds: number): void => {
      now = seconds
      for (const waiter of waiting) {
        if (waiter.at > now + 1e-9) continue
        waiting.delete(waiter)
        waiter.wake()
      }
    },
  }
}

const cpuOf = (engine: SpeechEngine): number | null => {
  const pid = engine.pid()
  return pid === undefined ? null : cpuSecondsOf(pid)
}

/** Runs one recording as a session on the pipeline of the service. */
export const runLive = async (
  engine: SpeechEngine,
  samples: Int16Array,
  language: string,
  options: LiveOptions,
): Promise<LiveRun> => {
  const { model, settings, speed, passSeconds, wishes } = options
  const { watched, settled } = observed(engine)
  const clock = createAudioClock()
  let begin = 0
  const isReal = speed === 'real'
  const now = (): number => (isReal ? (performance.now() - begin) / 1000 : clock.now())
  const monotonic = (): number => (isReal ? performance.now() : 1000 * clock.now())
  const slowed: SpeechEngine = {
    ...watched,
    // The engine's measured times are valid only in real time. At speed `max` a pass takes `passSeconds`.
    passTime: isReal ? engine.passTime : () => ({ usual: passSeconds, least: passSeconds }),
    transcribe: async (job) => {
      const due = now() + passSeconds
      const answer = await watched.transcribe(job)
      if (!isReal) await clock.until(due)
      return answer
    },
  }
  const frames: Array<Frame> = []
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  let passes = 0
  const scheduler = options.scheduler ?? createScheduler(slowed, monotonic)
  const counted: Scheduler = {
    ...scheduler,
    transcribe: (...args) => {
      passes += 1
      return scheduler.transcribe(...args)
    },
  }
  const pipeline = createLivePipeline({ engine: slowed, scheduler: counted, monotonic, timers })({
    liveId: (lastLive += 1),
    model,
    language,
    settings,
    nextSegment: 1,
    ...wishes,
    events: {
      partial: (segment) => void frames.push({ ...segment, at: now(), final: false }),
      final: async (segment) => void frames.push({ ...segment, at: now(), final: true }),
      failed: ({ reason }) => failure.reject(new Error(reason)),
      drained: () => undefined,
    },
  })
  orThrow(await pipeline.start())
  const [cpu, own] = [cpuOf(engine), process.cpuUsage()]
  begin = performance.now()
  for (let from = 0; from < samples.length; from += CHUNK_SAMPLES) {
    const to = Math.min(samples.length, from + CHUNK_SAMPLES)
    if (isReal) await delay(Math.max(0, 1000 * (to / SAMPLE_RATE - now())))
    else clock.advance(to / SAMPLE_RATE)
    pipeline.push(samples.subarray(from, to))
    if (!isReal) await Promise.race([settled(), failure.promise])
  }
  const finished = pipeline.finish(FINISH_MS)
  for (;;) {
    await Promise.race([settled(), failure.promise])
    if (!clock.isAwaited()) break
    clock.advance(clock.now() + CHUNK_SAMPLES / SAMPLE_RATE)
  }
  await Promise.race([finished, failure.promise])
  const [spent, { user, system }] = [cpuOf(engine), process.cpuUsage(own)]
  const engineCpu = cpu === null || spent === null || options.scheduler !== undefined ? null : spent - cpu
  return { frames, passes, engineCpu, ownCpu: (user + system) / 1e6 }
}
