/** The model that ships, English only. */
export const BUNDLED_MODEL = 'demo-en'

/** The names that the interface fixes, in the order of their ids; inactive until a folder of theirs is installed. */
export const INTERFACE_MODELS = ['tiny', 'medium', 'large_v1', 'large_v2', 'large-v3'] as const

/** Names of Hugging Face's repositories, which folders usually keep, and what we call these models. */
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

/** Where their ONNX exports are, by our names. */
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
export const PULLED_BY_NAME = Object.keys(HUB_REPOSITORIES)

/** Of exports that tell when words sound. */
const TIMESTAMPED = '_timestamped'
const TIMESTAMPED_OWNER = 'onnx-community'

/**
 * `owner/name` on the hub of a model that we know by name, the best export first: of some models there is none that tells
 * when words sound. Empty for other names.
 */
export const repositoriesOf = (name: string): ReadonlyArray<string> => {
  const plain = Object.hasOwn(HUB_REPOSITORIES, name) ? HUB_REPOSITORIES[name] : undefined
  if (plain === undefined) return []
  return [`${TIMESTAMPED_OWNER}/${plain.slice(plain.indexOf('/') + 1)}${TIMESTAMPED}`, plain]
}

/** The name under which a folder's model is listed: the interface's where it has one, else the folder's own. */
export const modelNameOf = (folder: string): string =>
  NAME_OF_REPOSITORY[folder.endsWith(TIMESTAMPED) ? folder.slice(0, -TIMESTAMPED.length) : folder] ?? folder

/**
 * Memory of a loaded model over the size of its files, caches and buffers included. Measured with 8-bit weights:
 * 2.1 for Whisper tiny (145 MB of 68), 3.1 for demo-en (16 MB of 5).
 */
const MEMORY_FACTOR = 2.5

/** Megabytes that a model of this many bytes of files needs; at least 1. */
export const vramOf = (bytes: number): number => Math.max(1, Math.ceil((bytes * MEMORY_FACTOR) / 1e6))

/** Parameters in millions. */
const LARGE = { encoder: 636, decoder: 907 }
const PARAMETERS: Readonly<Record<(typeof INTERFACE_MODELS)[number], { readonly encoder: number; readonly decoder: number }>> = {
  tiny: { encoder: 8, decoder: 30 },
  medium: { encoder: 307, decoder: 457 },
  large_v1: LARGE,
  large_v2: LARGE,
  'large-v3': LARGE,
}

/** What a model that is not installed would need: one byte a parameter, with the decoder in two files. */
export const estimatedVramOf = (name: (typeof INTERFACE_MODELS)[number]): number => {
  const { encoder, decoder } = PARAMETERS[name]
  return vramOf((encoder + 2 * decoder) * 1e6)
}
