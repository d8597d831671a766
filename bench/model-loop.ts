import * as E from 'fp-ts/lib/Either.js'
import type { TranscribeJob, VadState } from '../application/ports/engine.ts'
import { readSpeechModel } from '../infrastructure/onnx/families.ts'
import type { DetectSpeech } from '../infrastructure/onnx/voice-activity.ts'

/** One call of a pipeline to the engine. */
export type ModelRun =
  | { readonly kind: 'detect'; readonly samples: Int16Array }
  | { readonly kind: 'transcribe'; readonly job: TranscribeJob }

/** Opens a plain loop that runs the models on this thread, one call after the other. */
export const openModelLoop = async (
  folder: string,
  detectSpeech: DetectSpeech,
): Promise<(runs: ReadonlyArray<ModelRun>) => Promise<void>> => {
  const found = await readSpeechModel(folder)
  if (E.isLeft(found)) throw new Error(found.left)
  const model = await found.right.load()
  return async (runs) => {
    let state: VadState = null
    for (const run of runs) {
      if (run.kind === 'detect') state = (await detectSpeech(run.samples, state)).state
      else await model.transcribe(run.job)
    }
  }
}
