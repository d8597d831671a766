import * as E from 'fp-ts/lib/Either.js'
import type { Beginning } from '../../../application/ports/engine.ts'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import type { WhisperModel } from '../../../infrastructure/onnx/whisper/whisper-model.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import type { WhisperRunner } from '../../../infrastructure/onnx/whisper/whisper-pass.ts'
import { sharedModel, testWith } from '../running/skip-unless.ts'

/** The real Whisper base and recordings of speech. Both are optional. */
export const WHISPER_BASE = sharedModel('whisper-base')
export const SPEECH_RECORDINGS = '../shared/speech'
export const withBase = testWith(WHISPER_BASE, SPEECH_RECORDINGS)

const loaded = new Map<string, Promise<WhisperRunner>>()

/** Loads Whisper base once per `change` of its model. */
export const loadBase = (change: (model: WhisperModel) => WhisperModel = (model) => model): Promise<WhisperRunner> => {
  const load = async (): Promise<WhisperRunner> => {
    const model = await readWhisperDirectory(WHISPER_BASE)
    if (E.isLeft(model)) throw new Error(model.left)
    return loadWhisper(change(model.right))
  }
  const runner = loaded.get(change.toString()) ?? load()
  loaded.set(change.toString(), runner)
  return runner
}

export const NO_BEGINNING: Beginning = { context: [], prefix: [] }
