/** The model that comes with the project, only for English. */
export const BUNDLED_MODEL = 'demo-en'

/** Model names that the interface fixes, in the order of their ids. A model is inactive until it is installed. */
export const INTERFACE_MODELS = ['tiny', 'medium', 'large_v1', 'large_v2', 'large-v3'] as const

/** Our model names by the names of Hugging Face's repositories, which folders usually keep. */
const NAME_OF_REPOSITORY: Readonly<Record<string, string>> = {
  'whisper-tiny': 'tiny',
  'whisper-base': 'base',
  'whisper-small': 'small',
  'whisper-medium': 'medium',
  'whisper-large': 'large_v1',
  'whisper-large-v1': 'large_v1',
  'whisper-large-v2': 'large_v2',
  'whisper-large-v3': 'large-v3',
  'whisper-large-v3-turbo': 'large-v3-turbo',
}

/** Repositories of the ONNX exports by our model names. */
const HUB_REPOSITORIES: Readonly<Record<string, string>> = {
  tiny: 'Xenova/whisper-tiny',
  base: 'Xenova/whisper-base',
  small: 'Xenova/whisper-small',
  medium: 'Xenova/whisper-medium',
  large_v1: 'Xenova/whisper-large',
  large_v2: 'Xenova/whisper-large-v2',
  'large-v3': 'Xenova/whisper-large-v3',
  'large-v3-turbo': 'onnx-community/whisper-large-v3-turbo',
}
/** Model names that a pull accepts instead of `owner/name`. */
export const PULLED_BY_NAME = Object.keys(HUB_REPOSITORIES)

/** Suffix and owner of exports with word times. */
const TIMESTAMPED = '_timestamped'
const TIMESTAMPED_OWNER = 'onnx-community'

/**
 * Returns the repositories of a known model, the best export first. Some models have no export with word times.
 * Empty for unknown names.
 */
export const repositoriesOf = (name: string): ReadonlyArray<string> => {
  const plain = Object.hasOwn(HUB_REPOSITORIES, name) ? HUB_REPOSITORIES[name] : undefined
  if (plain === undefined) return []
  return [`${TIMESTAMPED_OWNER}/${plain.slice(plain.indexOf('/') + 1)}${TIMESTAMPED}`, plain]
}

/** Returns the listed name of a folder's model: our name if the folder has a known name, else the folder's name. */
export const modelNameOf = (folder: string): string =>
  NAME_OF_REPOSITORY[folder.endsWith(TIMESTAMPED) ? folder.slice(0, -TIMESTAMPED.length) : folder] ?? folder

/**
 * Memory of a loaded model with caches and buffers, divided by the size of its files. Measured with 8-bit weights:
 * 2.1 for Whisper tiny (145 MB for 68 MB of files), 3.1 for demo-en (16 MB for 5 MB).
 */
const MEMORY_FACTOR = 2.5

/** Estimates the megabytes that a model needs by the bytes of its files; at least 1. */
export const vramOf = (bytes: number): number => Math.max(1, Math.ceil((bytes * MEMORY_FACTOR) / 1e6))

/** Millions of parameters of the large models. */
const LARGE = { encoder: 636, decoder: 907 }
const PARAMETERS: Readonly<
  Record<(typeof INTERFACE_MODELS)[number], { readonly encoder: number; readonly decoder: number }>
> = {
  tiny: { encoder: 8, decoder: 30 },
  medium: { encoder: 307, decoder: 457 },
  large_v1: LARGE,
  large_v2: LARGE,
  'large-v3': LARGE,
}

/** Estimates the megabytes of a model that is not installed: one byte per parameter, and the decoder in two files. */
export const estimatedVramOf = (name: (typeof INTERFACE_MODELS)[number]): number => {
  const { encoder, decoder } = PARAMETERS[name]
  return vramOf((encoder + 2 * decoder) * 1e6)
}
