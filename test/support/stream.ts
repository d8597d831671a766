import * as E from 'fp-ts/lib/Either.js'
import { createLivePipeline } from '../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../application/pipeline/scheduler.ts'
import type { JobFailed, ModelLoadFailed, SpeechEngine } from '../../application/ports/engine.ts'
import type { Segment } from '../../application/pipeline/pipeline.ts'
import type { EngineSettings } from '../../domain/live/settings.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'
import { scriptedEngine } from './scripted-engine.ts'
import type { ScriptedWord } from './scripted-engine.ts'

export const ticks = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise<void>((resolve) => void setImmediate(resolve))
}

export interface Frame extends Segment {
  readonly final: boolean
  /** Samples that had been pushed when the frame came. */
  readonly pushed: number
}

export interface Streamed {
  readonly frames: ReadonlyArray<Frame>
  readonly finals: ReadonlyArray<Frame>
  readonly failures: ReadonlyArray<ModelLoadFailed | JobFailed>
  readonly maxBacklog: number
  /** Passes of the scripted engine. */
  readonly passes: number
}

/** Streams audio through a pipeline, `chunk` samples at a time with `ticks` turns of the event loop between them. */
export const stream = async (options: {
  readonly words: ReadonlyArray<ScriptedWord>
  readonly audio: Int16Array
  readonly settings: EngineSettings
  readonly chunk: number
  readonly ticks: number
  /** Turns of the event loop that the engine takes for an answer. */
  readonly latency: number
  readonly windowSeconds: number
  readonly engine?: SpeechEngine
  readonly model?: string
}): Promise<Streamed> => {
  const scripted = scriptedEngine({ words: options.words, windowSeconds: options.windowSeconds, delay: () => ticks(options.latency) })
  const engine = options.engine ?? scripted
  const frames: Array<Frame> = []
  const failures: Array<ModelLoadFailed | JobFailed> = []
  let [pushed, maxBacklog] = [0, 0]
  const create = createLivePipeline({
    engine,
    scheduler: createScheduler(engine, () => performance.now()),
    monotonic: () => performance.now(),
    timers: systemTimers,
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
        await ticks(1)
        frames.push({ ...segment, final: true, pushed })
      },
      failed: (failure) => failures.push(failure),
      drained: () => {},
    },
  })
  const started = await pipeline.start()()
  if (E.isLeft(started)) failures.push(started.left)
  for (let at = 0; at < options.audio.length; at += options.chunk) {
    pipeline.push(options.audio.subarray(at, at + options.chunk))
    pushed = Math.min(options.audio.length, at + options.chunk)
    maxBacklog = Math.max(maxBacklog, pipeline.backlogSeconds())
    await ticks(options.ticks)
  }
  await pipeline.finish(60_000)
  return { frames, finals: frames.filter(({ final }) => final), failures, maxBacklog, passes: scripted.jobs.length }
}
