import type { Either } from 'fp-ts/lib/Either.js'

/** Samples in a second. All audio is mono. */
export const SAMPLE_RATE = 16000
/** Samples in one frame of the voice activity detector: 32 ms. */
export const VAD_FRAME = 512

export interface ModelLoadFailed {
  readonly _tag: 'ModelLoadFailed'
  readonly model: string
  readonly reason: string
}

/** The model run threw an error, or the job crashed the engine process while no other job was running. */
export interface JobFailed {
  readonly _tag: 'JobFailed'
  readonly reason: string
}

export interface LoadedModel {
  /** Maximum seconds of audio in one pass (one run of the model). */
  readonly windowSeconds: number
  /** True when the model runs on a GPU. The memory of the engine process does not include GPU memory. */
  readonly onGpu?: boolean
  /** Maximum number of sessions in one run on a GPU, as measured when the model was loaded. */
  readonly batch?: number
  /** True when the model derives word times from its cross-attention. Then jobs may have a `beginning`. */
  readonly hasWordTimes?: boolean
}

/** Words that speakers are likely to use. */
export interface Vocabulary {
  /** Text that the model treats as the speech before the audio. */
  readonly prompt: string
  /** Words and phrases that the model prefers over similar sounds. */
  readonly hotwords: ReadonlyArray<string>
}

/** Known text at and before the start of the audio, as tokens of words that the same model transcribed. */
export interface Beginning {
  /** Text before the audio. The model reads as many of the last tokens as fit. */
  readonly context: ReadonlyArray<number>
  /** Text at the start of the audio. The model continues after it. */
  readonly prefix: ReadonlyArray<number>
}

export interface TranscribeJob {
  readonly model: string
  /** Language code. Null: only detect the language, without a transcription. */
  readonly language: string | null
  /** `translate`: the model itself translates speech into English text. */
  readonly task?: 'transcribe' | 'translate'
  /** s16le samples, at most `windowSeconds`. They must not be changed until the job is done. */
  readonly samples: Int16Array
  readonly vocabulary?: Vocabulary
  /** True for a fast pass for a draft, with less silence after the audio. It may be less accurate. */
  readonly isDraft?: boolean
  /** Only for models with word times. Without it the whole audio is transcribed again. */
  readonly beginning?: Beginning
}

/** A word with its punctuation. Times are in seconds from the start of `samples`. */
export interface TranscribedWord {
  readonly tokens: ReadonlyArray<number>
  /** The text with its leading space. Without a leading space it may belong to the word before it. */
  readonly text: string
  /** Number of tokens before the trailing punctuation. */
  readonly spoken: number
  readonly start: number
  /** Estimated end of the sound. */
  readonly end: number
  /** Geometric mean of the probabilities of all tokens. */
  readonly probability: number
  /** Geometric mean of the probabilities of the tokens before the trailing punctuation. */
  readonly confidence: number
  /** Geometric mean of the probabilities of the trailing punctuation. 1 without punctuation. */
  readonly endProbability: number
}

/** Text between two timestamps of the model. Times are in seconds from the start of `samples`. */
export interface HypothesisSegment {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The most probable language among the languages of the model. */
export interface FoundLanguage {
  readonly code: string
  readonly probability: number
}

export interface Hypothesis {
  readonly segments: ReadonlyArray<HypothesisSegment>
  /** The words after the prefix. Present only for a job with a `beginning`. */
  readonly words?: ReadonlyArray<TranscribedWord>
  /** Present only for a job that detects the language. */
  readonly language?: FoundLanguage
  /** True when decoding was stopped because the text repeated itself. */
  readonly isLoop?: boolean
  /** Mean log probability of the chosen tokens, including the token that ends the text. */
  readonly avgLogprob: number
  /** Probability of the no-speech token at the first step. 0 for models without that token. */
  readonly noSpeechProb: number
  /** Bytes of the UTF-8 text divided by the bytes of its zlib compression. */
  readonly compressionRatio: number
  /** Processor seconds of this pass only. Absent on a GPU. */
  readonly busySeconds?: number
}

/** The recurrent state of a session's voice activity detector. Null at the start. */
export type VadState = Float32Array | null

export interface SpeechProbabilities {
  /** One value for each frame of VAD_FRAME samples. */
  readonly probabilities: Float32Array
  readonly state: VadState
}

export interface Device {
  readonly name: 'cpu' | 'gpu'
  /** Number of passes that run at the same time. */
  readonly lanes: number
}

/** Measured duration of the passes of a model, in seconds. */
export interface PassTime {
  /** Median of the last passes. */
  readonly usual: number
  /** The fastest pass. */
  readonly least: number
  /** Median of the processor time of the last passes. Absent when it is unknown. */
  readonly busy?: number
}

/**
 * Runs speech models in a separate process, which keeps no session data between calls. After a crash the unfinished
 * jobs run again, one at a time. A job that crashes the process while it runs alone fails with JobFailed.
 */
export interface SpeechEngine {
  readonly load: (model: string) => Promise<Either<ModelLoadFailed, LoadedModel>>
  /** When `signal` aborts, the result is not needed. A running pass then ends after its present token. */
  readonly transcribe: (
    job: TranscribeJob,
    signal?: AbortSignal,
  ) => Promise<Either<ModelLoadFailed | JobFailed, Hypothesis>>
  /** `samples`: a whole number of frames. They must not be changed until the task has ended. */
  readonly detectSpeech: (samples: Int16Array, state: VadState) => Promise<Either<JobFailed, SpeechProbabilities>>
  /** Returns the device that runs the model. It may change when the model is loaded or the process restarts. */
  readonly deviceOf: (model: string) => Device
  /** Returns the measured pass times of a model, without loading. Null when no pass was measured. */
  readonly passTime: (model: string) => PassTime | null
  readonly pid: () => number | undefined
  readonly close: () => Promise<void>
}
