import type { Either } from 'fp-ts/lib/Either.js'
import type { Abilities } from '../../application/ports/catalogue.ts'
import type { Hypothesis, TranscribeJob } from '../../application/ports/engine.ts'
import type { Weights } from './model-weights.ts'
import type { Rehearse } from './providers/batch-size.ts'
import type { Provider } from './providers/execution-provider.ts'

/** A job to transcribe, without the name of its model. */
export interface SpeechRequest extends Omit<TranscribeJob, 'model'> {
  /** Cancels the job: decoding ends after its current token. */
  readonly signal?: AbortSignal
}

/** The reason why a cancelled job has no text. */
export const CANCELLED = 'it was cancelled'

/**
 * A loaded speech model of any family. It keeps no state between calls. Throws on unsuitable samples, languages or
 * tasks, or an unsuitable `beginning`. A vocabulary is a hint: a family ignores the parts that it cannot use.
 */
export interface SpeechRunner {
  /** Longest audio of one pass, in seconds. */
  readonly windowSeconds: number
  /** Whether the model returns word times and accepts jobs with a `beginning`. */
  readonly hasWordTimes: boolean
  /** Transcribes one job. Throws CANCELLED for a cancelled job. */
  readonly transcribe: (request: SpeechRequest) => Promise<Hypothesis>
  /** Transcribes jobs in few runs. `onText` is called for each text when it ends, in any order, unless cancelled. */
  readonly transcribeTogether: (
    requests: ReadonlyArray<SpeechRequest>,
    onText: (index: number, hypothesis: Hypothesis) => void,
  ) => Promise<void>
  /** Absent if the model cannot run several texts together. */
  readonly rehearse?: Rehearse
  /** Releases the memory. The runner must not be used afterwards. */
  readonly release: () => Promise<void>
}

/** A speech model's folder, before its weights are loaded. */
export interface SpeechModel {
  readonly abilities: Abilities
  readonly weights: Weights
  /** Loads the weights. Throws onnxruntime's error when a file is damaged. */
  readonly load: () => Promise<SpeechRunner>
}

/** The parts of a folder that decide its family. */
export interface Layout {
  /** The member model_type of config.json; null when it is missing. */
  readonly modelType: string | null
  /** Names of the files and folders in the model's folder. */
  readonly files: ReadonlyArray<string>
}

/** Models with the same layout of their folders. */
interface Family {
  /** Name for messages. */
  readonly name: string
  readonly fits: (layout: Layout) => boolean
  /** JSON files that every folder of the family has. */
  readonly jsonFiles: ReadonlyArray<string>
  /** Finds the best weights for a provider without reading them. Left: which files are missing. */
  readonly findWeights: (folder: string, provider: Provider) => Promise<Either<string, Weights>>
}

/** A family of speech models, which have the same kind of runner. */
export interface SpeechFamily extends Family {
  readonly kind: 'speech'
  /** Left: the problem with the folder. */
  readonly read: (folder: string, provider: Provider) => Promise<Either<string, SpeechModel>>
}

/** A family of translators. They run in a separate process. */
export interface TranslatorFamily extends Family {
  readonly kind: 'translation'
}
