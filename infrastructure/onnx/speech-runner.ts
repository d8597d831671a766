import type { Either } from 'fp-ts/lib/Either.js'
import type { Abilities } from '../../application/ports/catalogue.ts'
import type { Hypothesis, TranscribeJob } from '../../application/ports/engine.ts'
import type { Weights } from './model-weights.ts'
import type { Rehearse } from './providers/batch-size.ts'
import type { Provider } from './providers/execution-provider.ts'

/** What to hear. */
export interface Asked extends Omit<TranscribeJob, 'model'> {
  /** Once it is aborted nobody waits for the text: hearing ends behind the token that it is at. */
  readonly signal?: AbortSignal
}

/** Why a text that was called off has none. */
export const CANCELLED = 'it was cancelled'

/**
 * A loaded speech model of any family; it keeps nothing between calls. Throws on samples, languages, tasks or
 * beginnings that do not fit. A vocabulary is a hint: what the family cannot use of it, it leaves out.
 */
export interface SpeechRunner {
  /** Seconds of audio that one pass can hear. */
  readonly windowSeconds: number
  /** It takes jobs with a beginning. */
  readonly hasWordTimes: boolean
  /** Throws CANCELLED of what is. */
  readonly transcribe: (asked: Asked) => Promise<Hypothesis>
  /** In as few runs of the graphs as can be; `onText` is called for each as its text ends, in no order, but for those that are called off. */
  readonly transcribeTogether: (
    asked: ReadonlyArray<Asked>,
    onText: (index: number, hypothesis: Hypothesis) => void,
  ) => Promise<void>
  /** Absent where no run holds more than one text. */
  readonly rehearse?: Rehearse
  /** Gives its memory back; nothing may run on it any more. */
  readonly release: () => Promise<void>
}

/** What the files of a speech model's folder say before its weights are loaded. */
export interface SpeechModel {
  readonly abilities: Abilities
  readonly weights: Weights
  /** Throws what onnxruntime says of files that are damaged. */
  readonly load: () => Promise<SpeechRunner>
}

/** How a folder is laid out, as far as families tell their own by it. */
export interface Layout {
  /** That config.json says; null where it says none. */
  readonly modelType: string | null
  /** Names of what lies in the folder itself. */
  readonly files: ReadonlyArray<string>
}

/** Models whose folders are laid out alike. */
interface Family {
  /** As people are told of it. */
  readonly name: string
  readonly fits: (layout: Layout) => boolean
  /** Those that every folder of it has. */
  readonly jsonFiles: ReadonlyArray<string>
  /** The best weights for what runs them, or a sentence about those that are missing; reads none. */
  readonly findWeights: (folder: string, provider: Provider) => Promise<Either<string, Weights>>
}

/** Speech models that one kind of runner runs. */
export interface SpeechFamily extends Family {
  readonly kind: 'speech'
  /** Left: a sentence about what does not fit. */
  readonly read: (folder: string, provider: Provider) => Promise<Either<string, SpeechModel>>
}

/** Translators, which have processes of their own. */
export interface TranslatorFamily extends Family {
  readonly kind: 'translation'
}
