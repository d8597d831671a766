import * as E from 'fp-ts/lib/Either.js'
import type { CreatePipeline, PipelineEvents, Segment, Vocabulary } from '../../../../application/pipeline/pipeline.ts'
import type { ModelLoadFailed } from '../../../../application/ports/engine.ts'
import type { EngineSettings } from '../../../../domain/live/settings.ts'
import { SAMPLE_RATE } from './script.ts'

/** The pipeline of one session. The test decides everything that it emits. */
export interface ScriptedPipeline {
  readonly liveId: number
  readonly nextSegment: number
  readonly language: string
  readonly task: Parameters<CreatePipeline>[0]['task']
  readonly settings: () => EngineSettings
  /** The vocabularies so far, oldest first. */
  readonly vocabularies: ReadonlyArray<Vocabulary>
  readonly pushed: ReadonlyArray<Int16Array>
  readonly samples: () => number
  readonly partial: (segment: number, text: string) => void
  /** `details`: the words and the language that a model found. */
  readonly final: (segment: number, text: string, details?: Pick<Segment, 'words' | 'language'>) => Promise<void>
  readonly fail: PipelineEvents['failed']
  /** Ends the loading of the model, with a failure if one is given. */
  readonly load: (failure?: ModelLoadFailed) => void
  /** Removes this many seconds of audio from the backlog. */
  readonly consume: (seconds: number) => void
  /** Sets `settledSamples`: the number of samples that are in finals or contain no words. */
  readonly settle: (samples: number) => void
  /** The time limits of all calls of `finish`, in milliseconds. */
  readonly finishes: ReadonlyArray<number>
  /** `isContinued` of the last call of `finish`. */
  readonly isContinued: () => boolean
  readonly isAborted: () => boolean
}

export interface ScriptedPipelines {
  readonly create: CreatePipeline
  /** The newest pipeline of a session. */
  readonly of: (liveId: number) => ScriptedPipeline
  readonly all: ReadonlyArray<ScriptedPipeline>
  /** Forgets all pipelines so far. */
  readonly forget: () => void
}

export interface PipelineScript {
  /** False: a pipeline cannot be created. */
  readonly opens?: boolean
  /** The model is loaded at once. Default: true. */
  readonly loads?: boolean
  /** All audio is consumed at once. Default: true. */
  readonly consumes?: boolean
  /** The text of the final that `finish` emits; null: no final. */
  readonly tail?: (pipeline: ScriptedPipeline) => string | null
  /** Awaited by `finish` before the tail. */
  readonly beforeTail?: () => Promise<void>
}

const segmentOf = (segment: number, text: string): Segment =>
  ({ segment, start: segment - 1, end: segment - 0.5, text, caption: text })

const sampleCount: NonNullable<PipelineScript['tail']> = ({ samples }) =>
  samples() === 0 ? null : `heard ${samples()}`

export const createScriptedPipelines = (script: PipelineScript = {}): ScriptedPipelines => {
  const { loads = true, consumes = true, tail = sampleCount, beforeTail = async () => undefined } = script
  const all: ScriptedPipeline[] = []

  const create: CreatePipeline = (options) => {
    if (script.opens === false) throw new Error('no pipeline')
    const { liveId, nextSegment, settings: initialSettings, events } = options
    const vocabularies: Vocabulary[] = options.vocabulary === undefined ? [] : [options.vocabulary]
    let settings = initialSettings
    let aborted = false
    let consumed = 0
    let lastSegment = 0
    let settled = 0
    const pushed: Int16Array[] = []
    const finishes: number[] = []
    let continued = false
    const loading = Promise.withResolvers<E.Either<ModelLoadFailed, void>>()
    const samples = (): number => pushed.reduce((sum, { length }) => sum + length, 0)
    const pipeline: ScriptedPipeline = {
      liveId,
      nextSegment,
      language: options.language,
      task: options.task,
      settings: () => settings,
      vocabularies,
      pushed,
      samples,
      partial: (segment, text) => events.partial(segmentOf(segment, text)),
      final: async (segment, text, details = {}) => {
        lastSegment = segment
        await events.final({ ...segmentOf(segment, text), ...details })
      },
      fail: events.failed,
      load: (failure) => loading.resolve(failure === undefined ? E.right(undefined) : E.left(failure)),
      consume: (seconds) => {
        consumed += seconds * SAMPLE_RATE
        events.drained()
      },
      settle: (count) => {
        settled = count
      },
      finishes,
      isContinued: () => continued,
      isAborted: () => aborted,
    }
    all.push(pipeline)
    if (loads) pipeline.load()
    return {
      setVocabulary: (vocabulary) => void vocabularies.push(vocabulary),
      configure: (next) => {
        settings = next
      },
      start: async () => loading.promise,
      push: (audio) => {
        pushed.push(audio.slice())
        if (consumes) pipeline.consume(audio.length / SAMPLE_RATE)
      },
      settledSamples: () => settled,
      backlogSeconds: () => (samples() - consumed) / SAMPLE_RATE,
      finish: async (limitMs, isContinued = false) => {
        finishes.push(limitMs)
        continued = isContinued
        await beforeTail()
        const text = tail(pipeline)
        if (text !== null && !aborted) await pipeline.final(lastSegment + 1, text)
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
      if (found === undefined) throw new Error(`session ${liveId} has no pipeline`)
      return found
    },
  }
}
