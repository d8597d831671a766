import * as E from 'fp-ts/lib/Either.js'
import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import type { JobFailed, ModelLoadFailed, SpeechEngine } from '../../../application/ports/engine.ts'
import type { Segment } from '../../../application/pipeline/pipeline.ts'
import type { EngineSettings } from '../../../domain/live/settings.ts'
import { systemTimers } from '../../../infrastructure/process/system-timers.ts'
import { scriptedEngine } from '../doubles/scripted/engine.ts'
import type { ScriptedWord } from '../doubles/scripted/script.ts'

export const eventLoopTurns = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise<void>((resolve) => void setImmediate(resolve))
}

export interface StreamedFrame extends Segment {
  readonly final: boolean
  /** The samples that had been pushed when the frame was emitted. */
  readonly pushed: number
}

export interface Streamed {
  readonly frames: ReadonlyArray<StreamedFrame>
  readonly finals: ReadonlyArray<StreamedFrame>
  readonly failures: ReadonlyArray<ModelLoadFailed | JobFailed>
  readonly maxBacklog: number
  /** The number of passes (runs of the model) of the scripted engine. */
  readonly passes: number
  /** The samples of the longest pass. */
  readonly longestPass: number
  /** The pipeline did not finish within `patience`. */
  readonly isLate: boolean
}

/**
 * Streams audio through a pipeline in chunks of `chunk` samples. After each chunk it waits for `ticks` turns of the
 * event loop.
 */
export const streamAudio = async (options: {
  readonly words: ReadonlyArray<ScriptedWord>
  readonly audio: Int16Array
  readonly settings: EngineSettings
  readonly chunk: number
  readonly ticks: number
  /** Turns of the event loop that the engine needs for an answer. */
  readonly latency: number
  readonly windowSeconds: number
  readonly hasWordTimes?: boolean
  /** The time limit to finish, in milliseconds. Default: a minute. */
  readonly patience?: number
  readonly engine?: SpeechEngine
  readonly model?: string
}): Promise<Streamed> => {
  const { words, windowSeconds, hasWordTimes = false, latency } = options
  const scripted = scriptedEngine({ words, windowSeconds, hasWordTimes, delay: () => eventLoopTurns(latency) })
  const engine = options.engine ?? scripted
  const frames: Array<StreamedFrame> = []
  const failures: Array<ModelLoadFailed | JobFailed> = []
  let [pushed, maxBacklog, isLate] = [0, 0, false]
  const create = createLivePipeline({
    engine,
    scheduler: createScheduler(engine, () => performance.now()),
    monotonic: () => performance.now(),
    timers: {
      after: (milliseconds, run) =>
        systemTimers.after(milliseconds, () => {
          isLate = true
          run()
        }),
    },
  })
  const pipeline = create({
    liveId: 1,
    model: options.model ?? 'scripted',
    language: 'en',
    settings: options.settings,
    nextSegment: 1,
    events: {
      partial: (segment) => frames.push({ ...segment, final: false, pushed }),
      final: async (segment) => {
        await eventLoopTurns(1)
        frames.push({ ...segment, final: true, pushed })
      },
      failed: (failure) => failures.push(failure),
      drained: () => {},
    },
  })
  const started = await pipeline.start()
  if (E.isLeft(started)) failures.push(started.left)
  for (let start = 0; start < options.audio.length; start += options.chunk) {
    pipeline.push(options.audio.subarray(start, start + options.chunk))
    pushed = Math.min(options.audio.length, start + options.chunk)
    maxBacklog = Math.max(maxBacklog, pipeline.backlogSeconds())
    await eventLoopTurns(options.ticks)
  }
  await pipeline.finish(options.patience ?? 60_000)
  const longestPass = scripted.jobs.reduce((longest, { samples }) => Math.max(longest, samples.length), 0)
  const finals = frames.filter(({ final }) => final)
  return { frames, finals, failures, maxBacklog, passes: scripted.jobs.length, longestPass, isLate }
}
