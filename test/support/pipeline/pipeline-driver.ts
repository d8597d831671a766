import { createLivePipeline } from '../../../application/pipeline/live-pipeline.ts'
import { createScheduler } from '../../../application/pipeline/scheduler.ts'
import type { SpeechEngine } from '../../../application/ports/engine.ts'
import type { CreatePipeline, LivePipeline, PipelineEvents, Segment } from '../../../application/pipeline/pipeline.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../domain/live/settings.ts'
import type { ScriptedWord } from '../doubles/scripted/script.ts'

/** The words of a text at the speed of speech. The first word begins after `before` seconds. */
export const spokenWords = (text: string, before = 0.5): ReadonlyArray<ScriptedWord> =>
  text.split(' ').map((word, i) => ({
    text: word,
    pause: i === 0 ? before : 0.05,
    seconds: Math.max(0.2, word.length / 14),
  }))

/** Timers that fire only when the test calls `run` of one of them. */
export const heldTimers = () => {
  const timers: Array<{ readonly milliseconds: number; readonly run: () => void }> = []
  const after = (milliseconds: number, run: () => void): (() => void) => {
    const timer = { milliseconds, run }
    timers.push(timer)
    return () => void (timers.includes(timer) && timers.splice(timers.indexOf(timer), 1))
  }
  return { timers, after }
}

/** Collects the events of a pipeline. */
export const collectEvents = () => {
  const [finals, partials, failures]: [Array<Segment>, Array<Segment>, Array<string>] = [[], [], []]
  let drained = 0
  const events: PipelineEvents = {
    partial: (segment) => void partials.push(segment),
    final: (segment) => Promise.resolve(void finals.push(segment)),
    failed: ({ _tag }) => void failures.push(_tag),
    drained: () => {
      drained += 1
    },
  }
  return { finals, partials, failures, events, drained: () => drained }
}

/** Creates a pipeline with its own scheduler. `chosen`: options of the pipeline that differ from the defaults here. */
export const pipelineOf = (
  engine: SpeechEngine,
  events: PipelineEvents,
  chosen: Partial<Parameters<CreatePipeline>[0]> = {},
  timers = heldTimers(),
): LivePipeline => {
  const monotonic = (): number => performance.now()
  const create = createLivePipeline({ engine, scheduler: createScheduler(engine, monotonic), monotonic, timers })
  return create({
    liveId: 1,
    model: 'scripted',
    language: 'en',
    settings: DEFAULT_ENGINE_SETTINGS,
    nextSegment: 1,
    events,
    ...chosen,
  })
}
