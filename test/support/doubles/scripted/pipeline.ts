import * as E from 'fp-ts/lib/Either.js'
import { SAMPLE_RATE } from '../../../../application/ports/engine.ts'
import type { ModelLoadFailed } from '../../../../application/ports/engine.ts'
import type { CreatePipeline, PipelineEvents, Segment, Vocabulary } from '../../../../application/pipeline/pipeline.ts'
import type { EngineSettings } from '../../../../domain/live/settings.ts'

/** A pipeline whose every word a test decides. */
export interface ScriptedPipeline {
  readonly liveId: number
  readonly nextSegment: number
  readonly language: string
  readonly task: Parameters<CreatePipeline>[0]['task']
  readonly settings: () => EngineSettings
  /** What it was to expect, from the beginning and since. */
  readonly expected: ReadonlyArray<Vocabulary>
  readonly pushed: ReadonlyArray<Int16Array>
  readonly samples: () => number
  readonly partial: (segment: number, text: string) => void
  /** `told`: words and language, as a model tells them. */
  readonly final: (segment: number, text: string, told?: Pick<Segment, 'words' | 'language'>) => Promise<void>
  readonly fail: PipelineEvents['failed']
  /** The model is loaded, or not. */
  readonly load: (failure?: ModelLoadFailed) => void
  /** Takes that many seconds out of the backlog. */
  readonly consume: (seconds: number) => void
  /** So many samples are in finals, or held no words. */
  readonly settle: (samples: number) => void
  readonly finishes: ReadonlyArray<number>
  readonly isAborted: () => boolean
}

export interface ScriptedPipelines {
  readonly create: CreatePipeline
  readonly of: (liveId: number) => ScriptedPipeline
  readonly all: ReadonlyArray<ScriptedPipeline>
  /** As if there had been none so far. */
  readonly forget: () => void
}

export interface PipelineScript {
  /** The model is ready at once. */
  readonly loads?: boolean
  /** Consumes all audio at once. */
  readonly consumes?: boolean
  /** Text of the final that `finish` emits, null for none. */
  readonly tail?: (pipeline: ScriptedPipeline) => string | null
  /** What `finish` waits for. */
  readonly beforeTail?: () => Promise<void>
}

const segmentOf = (segment: number, text: string): Segment => ({ segment, start: segment - 1, end: segment - 0.5, text, caption: text })

export const createScriptedPipelines = (script: PipelineScript = {}): ScriptedPipelines => {
  const { loads = true, consumes = true, tail = ({ samples }) => (samples() === 0 ? null : `heard ${samples()}`), beforeTail = async () => undefined } = script
  const all: ScriptedPipeline[] = []

  const create: CreatePipeline = (options) => {
    const { liveId, nextSegment, settings: first, events } = options
    const expected: Vocabulary[] = options.vocabulary === undefined ? [] : [options.vocabulary]
    let settings = first
    let aborted = false
    let consumed = 0
    let segments = 0
    let settled = 0
    const pushed: Int16Array[] = []
    const finishes: number[] = []
    const loading = Promise.withResolvers<E.Either<ModelLoadFailed, void>>()
    const samples = (): number => pushed.reduce((sum, { length }) => sum + length, 0)
    const pipeline: ScriptedPipeline = {
      liveId,
      nextSegment,
      language: options.language,
      task: options.task,
      settings: () => settings,
      expected,
      pushed,
      samples,
      partial: (segment, text) => events.partial(segmentOf(segment, text)),
      final: async (segment, text, told = {}) => {
        segments = segment
        await events.final({ ...segmentOf(segment, text), ...told })
      },
      fail: events.failed,
      load: (failure) => loading.resolve(failure === undefined ? E.right(undefined) : E.left(failure)),
      consume: (seconds) => {
        consumed += seconds * SAMPLE_RATE
        events.drained()
      },
      settle: (samples) => {
        settled = samples
      },
      finishes,
      isAborted: () => aborted,
    }
    all.push(pipeline)
    if (loads) pipeline.load()
    return {
      expect: (vocabulary) => void expected.push(vocabulary),
      configure: (next) => {
        settings = next
      },
      start: () => async () => loading.promise,
      push: (audio) => {
        pushed.push(audio.slice())
        if (consumes) pipeline.consume(audio.length / SAMPLE_RATE)
      },
      settledSamples: () => settled,
      backlogSeconds: () => (samples() - consumed) / SAMPLE_RATE,
      finish: async (limitMs) => {
        finishes.push(limitMs)
        await beforeTail()
        const text = tail(pipeline)
        if (text !== null && !aborted) await pipeline.final(segments + 1, text)
      },
      abort: () => {
        aborted = true
      },
    }
  }

  return {
    create,
    all,
    forget: () => void all.splice(0),
    of: (liveId) => {
      const found = all.findLast((pipeline) => pipeline.liveId === liveId)
      if (found === undefined) throw new Error(`live ${liveId} has no pipeline`)
      return found
    },
  }
}
