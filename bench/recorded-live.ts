import { setImmediate } from 'node:timers/promises'
import { createLivePipeline } from '../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../application/pipeline/scheduler.ts'
import { SAMPLE_RATE, type SpeechEngine } from '../application/ports/engine.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../domain/live/settings.ts'
import { orThrow } from '../domain/shared/or-throw.ts'
import { systemTimers as timers } from '../infrastructure/process/system-timers.ts'
import type { ModelRun } from './model-loop.ts'

/** Samples of one client frame: 100 ms. */
const CHUNK_SAMPLES = SAMPLE_RATE / 10
const FINISH_MS = 600_000

const monotonic = (): number => performance.now()

/** Wraps an engine to record its calls. `settled` resolves when all of them are done. */
export const observed = (engine: SpeechEngine) => {
  const runs: Array<ModelRun> = []
  let busy = 0
  let idle = (): void => undefined
  const counted = async <A>(run: ModelRun, work: () => Promise<A>): Promise<A> => {
    runs.push(run)
    busy += 1
    try {
      return await work()
    } finally {
      busy -= 1
      if (busy === 0) idle()
    }
  }
  const watched: SpeechEngine = {
    ...engine,
    passTime: () => null,
    detectSpeech: (samples, state) => counted({ kind: 'detect', samples }, () => engine.detectSpeech(samples, state)),
    transcribe: (job) => counted({ kind: 'transcribe', job }, () => engine.transcribe(job)),
  }
  /** Resolves when all calls for the present audio are done. */
  const settled = async (): Promise<void> => {
    await setImmediate()
    if (busy === 0) return
    await new Promise<void>((resolve) => (idle = resolve))
    await settled()
  }
  return { runs, watched, settled }
}

/**
 * Runs one session on the pipeline and returns its calls to the engine. Each chunk waits until the pipeline is done
 * with the earlier chunks. So on a machine of any speed the pipeline transcribes the windows of a real-time session.
 */
export const recordLive = async (
  engine: SpeechEngine,
  model: string,
  samples: Int16Array,
): Promise<ReadonlyArray<ModelRun>> => {
  const { runs, watched, settled } = observed(engine)
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => undefined)
  const pipeline = createLivePipeline(
    { engine: watched, scheduler: createScheduler(watched, monotonic), monotonic, timers },
  )({
    liveId: 1,
    model,
    language: 'en',
    settings: DEFAULT_ENGINE_SETTINGS,
    nextSegment: 1,
    events: {
      partial: () => undefined,
      final: () => Promise.resolve(),
      failed: ({ reason }) => failure.reject(new Error(reason)),
      drained: () => undefined,
    },
  })
  orThrow(await pipeline.start())
  for (let from = 0; from < samples.length; from += CHUNK_SAMPLES) {
    pipeline.push(samples.subarray(from, from + CHUNK_SAMPLES))
    await Promise.race([settled(), failure.promise])
  }
  await pipeline.finish(FINISH_MS)
  return runs
}
