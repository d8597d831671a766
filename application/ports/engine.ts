import type { TaskEither } from 'fp-ts/lib/TaskEither.js'

/** 16 kHz mono everywhere. */
export const SAMPLE_RATE = 16000
/** Samples of one VAD frame: 32 ms. */
export const VAD_FRAME = 512

export interface ModelLoadFailed {
  readonly _tag: 'ModelLoadFailed'
  readonly model: string
  readonly reason: string
}

/** The job broke: an exception in inference, or it brought the engine process down when it ran alone. */
export interface JobFailed {
  readonly _tag: 'JobFailed'
  readonly reason: string
}

export interface LoadedModel {
  /** Seconds of audio that one pass can hear. */
  readonly windowSeconds: number
  /** It runs on a GPU, whose memory nobody sees in the engine's process. */
  readonly onGpu?: boolean
  /** Passes of several lives that one run holds on a GPU, at most, as was measured when it was loaded. */
  readonly batch?: number
  /** It tells the times of words by its cross-attention: jobs may say what the text goes on from. */
  readonly hasWordTimes?: boolean
}

/** What speakers are likely to say, by whoever knows them. */
export interface Vocabulary {
  /** Text as if it had been said before. */
  readonly prompt: string
  /** Words and phrases that are heard rather than what sounds alike. */
  readonly hotwords: ReadonlyArray<string>
}

/** What the text of a job goes on from; tokens are those of words that the same model heard. */
export interface Beginning {
  /** Of the text before the audio; the model reads the last of them that it has room for. */
  readonly context: ReadonlyArray<number>
  /** Of the text that the audio begins with: it is taken as heard. */
  readonly prefix: ReadonlyArray<number>
}

export interface TranscribeJob {
  readonly model: string
  /** A code of the model's; null asks which one is spoken, and nothing is transcribed. */
  readonly language: string | null
  /** `translate`: the model's own English of what is said. */
  readonly task?: 'transcribe' | 'translate'
  /** s16le samples, at most windowSeconds of them; nobody writes into them until the job is done. */
  readonly samples: Int16Array
  readonly vocabulary?: Vocabulary
  /** A look at the newest words, which may cost accuracy: less silence is heard behind the audio. */
  readonly isDraft?: boolean
  /** Only for a model with word times; without it all of the audio is heard anew. */
  readonly beginning?: Beginning
}

/** A word with its punctuation; times in seconds from the start of `samples`. */
export interface HeardWord {
  readonly tokens: ReadonlyArray<number>
  /** With its leading space where its script writes one; without a space it may go on with the word before it. */
  readonly text: string
  /** How many of the tokens there are without the punctuation behind it. */
  readonly spoken: number
  readonly start: number
  /** Where it stops to sound, as far as the model tells. */
  readonly end: number
  /** Geometric mean of its tokens' probabilities. */
  readonly probability: number
  /** The same without the punctuation behind it. */
  readonly confidence: number
  /** The same of the punctuation behind it; 1 where there is none. */
  readonly endProbability: number
}

/** What the model heard between two of its timestamps; times in seconds from the start of `samples`. */
export interface HypothesisSegment {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The likeliest of a model's languages, among these alone. */
export interface FoundLanguage {
  readonly code: string
  readonly probability: number
}

export interface Hypothesis {
  readonly segments: ReadonlyArray<HypothesisSegment>
  /** What follows the prefix, word by word; only of a job with a beginning. */
  readonly words?: ReadonlyArray<HeardWord>
  /** Only of a job that asks for it. */
  readonly language?: FoundLanguage
  /** Decoding was stopped because it said the same again and again. */
  readonly isLoop?: boolean
  /** Mean log probability of the tokens chosen, end of text included. */
  readonly avgLogprob: number
  /** Probability of the no-speech token at the first step, 0 where the model has none. */
  readonly noSpeechProb: number
  /** Length of the UTF-8 text over that of its zlib form. */
  readonly compressionRatio: number
  /** Seconds that hearing it kept a processor busy, whatever else ran beside it; absent on a GPU. */
  readonly busySeconds?: number
}

/** The recurrent state of one live's voice activity detector; opaque, begins as null. */
export type VadState = Float32Array | null

export interface SpeechProbabilities {
  /** One a frame of VAD_FRAME samples. */
  readonly probabilities: Float32Array
  readonly state: VadState
}

/** What models run on. */
export interface Device {
  readonly name: 'cpu' | 'gpu'
  /** Passes that it runs at a time. */
  readonly lanes: number
}

/** Seconds. */
export interface PassTime {
  /** The median of its last passes. */
  readonly usual: number
  /** Of its quickest pass. */
  readonly least: number
  /** That its last passes kept a processor busy, in the median; absent where none did, or nobody knows. */
  readonly busy?: number
}

/**
 * Speech models in a process of their own. It keeps nothing of a live between calls, so a restart loses nothing: jobs
 * that were in flight when the process died run again, one at a time; one that dies alone is JobFailed.
 */
export interface SpeechEngine {
  readonly load: (model: string) => TaskEither<ModelLoadFailed, LoadedModel>
  /** Once `signal` is aborted nobody waits for the answer: a pass that runs ends behind the token that it is at. */
  readonly transcribe: (job: TranscribeJob, signal?: AbortSignal) => TaskEither<ModelLoadFailed | JobFailed, Hypothesis>
  /** `samples` holds a whole number of frames; nobody writes into it until the answer. */
  readonly detectSpeech: (samples: Int16Array, state: VadState) => TaskEither<JobFailed, SpeechProbabilities>
  /** What passes of the model run on; it may change when the model is loaded and when the process starts anew. */
  readonly deviceOf: (model: string) => Device
  /** What a pass of the model takes on this machine, loading it not counted; null where nobody has measured one. */
  readonly passTime: (model: string) => PassTime | null
  readonly pid: () => number | undefined
  readonly close: () => Promise<void>
}
