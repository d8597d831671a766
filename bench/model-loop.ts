import * as E from 'fp-ts/lib/Either.js'
import type { TranscribeJob, VadState } from '../application/ports/engine.ts'
import { readModelDirectory } from '../infrastructure/onnx/whisper/whisper-directory.ts'
import type { DetectSpeech } from '../infrastructure/onnx/voice-activity.ts'
import { loadWhisper } from '../infrastructure/onnx/whisper/whisper-runner.ts'

/** What a pipeline asked of the engine. */
export type ModelRun = { readonly kind: 'detect'; readonly samples: Int16Array } | { readonly kind: 'transcribe'; readonly job: TranscribeJob }

/** The bare model loop: the models on this thread, one run after another, and nothing else. */
export const openModelLoop = async (folder: string, detectSpeech: DetectSpeech): Promise<(runs: ReadonlyArray<ModelRun>) => Promise<void>> => {
  const directory = await readModelDirectory(folder)
  if (E.isLeft(directory)) throw new Error(directory.left.reason)
  const model = await loadWhisper(directory.right)
  return async (runs) => {
    let state: VadState = null
    for (const run of runs) {
      if (run.kind === 'detect') state = (await detectSpeech(run.samples, state)).state
      else await model.transcribe(run.job)
    }
  }
}
