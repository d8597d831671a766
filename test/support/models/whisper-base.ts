import * as E from 'fp-ts/lib/Either.js'
import type { Beginning } from '../../../application/ports/engine.ts'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import type { WhisperModel } from '../../../infrastructure/onnx/whisper/whisper-model.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import type { WhisperRunner } from '../../../infrastructure/onnx/whisper/whisper-pass.ts'
import { sharedModel, testWith } from '../running/skip-unless.ts'

/** The real Whisper base, and recordings of people. */
export const WHISPER_BASE = sharedModel('whisper-base')
export const SPEECH_RECORDINGS = '../shared/speech'
export const withBase = testWith(WHISPER_BASE, SPEECH_RECORDINGS)

const loaded = new Map<string, Promise<WhisperRunner>>()
export const loadBase = (change: (model: WhisperModel) => WhisperModel = (model) => model): Promise<WhisperRunner> => {
  const made = loaded.get(change.toString()) ?? readWhisperDirectory(WHISPER_BASE).then((model) => {
    if (E.isLeft(model)) throw new Error(model.left)
    return loadWhisper(change(model.right))
  })
  loaded.set(change.toString(), made)
  return made
}

export const NO_BEGINNING: Beginning = { context: [], prefix: [] }
