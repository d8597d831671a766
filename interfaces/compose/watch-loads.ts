import * as E from 'fp-ts/lib/Either.js'
import type { SpeechEngine } from '../../application/ports/engine.ts'

/** The engine, and the names of the models whose last attempt to load failed (F11). */
export const watchLoads = (engine: SpeechEngine): { readonly engine: SpeechEngine; readonly failing: () => ReadonlyArray<string> } => {
  const failing = new Set<string>()
  const note = (model: string, failed: boolean): void => void (failed ? failing.add(model) : failing.delete(model))
  return {
    engine: {
      ...engine,
      load: (model) => async () => {
        const loaded = await engine.load(model)()
        note(model, E.isLeft(loaded))
        return loaded
      },
      transcribe: (job) => async () => {
        const heard = await engine.transcribe(job)()
        if (E.isLeft(heard) && heard.left._tag === 'ModelLoadFailed') note(job.model, true)
        return heard
      },
    },
    failing: () => [...failing].sort(),
  }
}
