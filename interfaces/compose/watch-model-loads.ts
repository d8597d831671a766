import * as E from 'fp-ts/lib/Either.js'
import type { SpeechEngine } from '../../application/ports/engine.ts'
import type { TranslationEngine } from '../../application/ports/translation-engine.ts'

/** Engines whose loads are watched, and how the last load of each model went. */
interface WatchedEngines {
  readonly engines: readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>]
  readonly translator: TranslationEngine
  /** Speech models whose last attempt to load failed. */
  readonly failing: () => ReadonlyArray<string>
  /** Result of the last attempt to load a model. Null before the first attempt. */
  readonly loads: (model: string) => boolean | null
}

export const watchModelLoads = (
  engines: readonly [SpeechEngine, ...ReadonlyArray<SpeechEngine>],
  translator: TranslationEngine,
): WatchedEngines => {
  const speech = new Map<string, boolean>()
  const translation = new Map<string, boolean>()
  const watched = (engine: SpeechEngine): SpeechEngine => ({
    ...engine,
    load: async (model) => {
      const loaded = await engine.load(model)
      speech.set(model, E.isRight(loaded))
      return loaded
    },
    transcribe: async (job, signal) => {
      const transcribed = await engine.transcribe(job, signal)
      if (E.isLeft(transcribed) && transcribed.left._tag === 'ModelLoadFailed') speech.set(job.model, false)
      return transcribed
    },
  })
  const [first, ...others] = engines
  return {
    engines: [watched(first), ...others.map(watched)],
    translator: {
      ...translator,
      load: async (model) => {
        const loaded = await translator.load(model)
        translation.set(model, E.isRight(loaded))
        return loaded
      },
      translate: async (job) => {
        const translated = await translator.translate(job)
        if (E.isLeft(translated) && translated.left._tag === 'ModelLoadFailed') translation.set(job.model, false)
        return translated
      },
    },
    failing: () => [...speech].flatMap(([model, loaded]) => (loaded ? [] : [model])).sort(),
    loads: (model) => speech.get(model) ?? translation.get(model) ?? null,
  }
}
