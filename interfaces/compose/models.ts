import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Catalogue } from '../../application/ports/catalogue.ts'
import type { SpeechEngine } from '../../application/ports/engine.ts'
import type { Services } from '../../application/services.ts'

/** Looking again at what is installed; `catalogue` is what new lives are created from. */
export const createRescan = (installed: { readonly rescan: () => Promise<void> }, catalogue: Catalogue): Pick<Services, 'rescanModels'> => ({
  rescanModels: () =>
    TE.tryCatch(
      async () => {
        await installed.rescan()
        return catalogue.models()
      },
      (error) => ({ _tag: 'StoreUnavailable', reason: error instanceof Error ? error.message : String(error) }) as const,
    ),
})

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
