import type { Decoded } from '../decoding.ts'
import type { SpeechRequest, SpeechRunner } from '../speech-runner.ts'
import type { LanguageAndTask } from './whisper-model.ts'

/** The tokens of one pass over a window. */
export interface DecodedWindow {
  /** Tokens without prompt and end of text. */
  readonly tokens: ReadonlyArray<number>
  /** Mean log probability of the tokens with the end of text. */
  readonly avgLogprob: number
  /** Probability of the no-speech token at the start of the transcript; 0 if the model lacks it. */
  readonly noSpeechProb: number
  /** Input for the word times of a job with a beginning. */
  readonly followed: Pick<Decoded, 'logprobs' | 'attention' | 'isLoop'>
}

/** Audio in a known language. For audio in an unknown language, a pass only finds the language. */
export type Audio = SpeechRequest & LanguageAndTask
export const hasKnownLanguage = (request: SpeechRequest): request is Audio => request.language !== null

/** Audio with its position in a batch. */
export interface Placed {
  readonly audio: Audio
  readonly index: number
}

/** A speech runner that also returns tokens. */
export interface WhisperRunner extends SpeechRunner {
  readonly decode: (audio: Audio) => Promise<DecodedWindow>
  /** Decodes several audios in few runs. `onText` is called for each text when it ends, in any order. */
  readonly decodeTogether: (
    audios: ReadonlyArray<Audio>,
    onText: (index: number, decoded: DecodedWindow) => void,
  ) => Promise<void>
}
