import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathExists } from '../infrastructure/files/path-exists.ts'

const NAME = 'whisper-tiny-random'
/**
 * Number of tokens in a pass, about as many as in 10 s of speech. Benchmarks use it when they do not depend on the
 * length of the text.
 */
export const TINY_TOKENS = 40
/** First and last special token. The special tokens are the end of text, languages, tasks and timestamps. */
const SPECIAL_TOKENS = [50_257, 51_864] as const

/** A model with the shape of Whisper tiny and random weights: it costs as much time as the real model. */
export interface TinyModel {
  /** Name of the model folder in `parent`. */
  readonly name: string
  /** The models directory that contains this model. */
  readonly parent: string
  readonly folder: string
  /** Folder of the original, unchanged files. */
  readonly original: string
  readonly suppressed: readonly [number, number]
  readonly remove: () => Promise<void>
}

/** Folder of the original, unchanged files; null when the model is absent. */
const originalFolder = async (): Promise<string | null> => {
  const folder = resolve(process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models', NAME)
  return (await pathExists(join(folder, 'config.json'))) ? folder : null
}

/** Members that replace those of the model's JSON files. */
export interface ChangedMembers {
  readonly config?: object
  readonly preprocessor?: object
}

/**
 * Copies the model's files, except its graphs, into a new folder. The copy decodes exactly `tokens` text tokens for
 * every window, because it has this limit and suppresses all special tokens. Null when the model is absent.
 */
export const copyTinyFiles = async (
  tokens: number,
  changes: ChangedMembers = {},
): Promise<Omit<TinyModel, 'suppressed'> | null> => {
  const original = await originalFolder()
  if (original === null) return null
  const parent = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
  const folder = join(parent, NAME)
  await mkdir(folder)
  const changed = async (name: string, members: object): Promise<void> => {
    const json = JSON.parse(await readFile(join(original, name), 'utf8')) as object
    await writeFile(join(folder, name), JSON.stringify({ ...json, ...members }))
  }
  for (const name of ['tokenizer.json', 'tokenizer_config.json']) await cp(join(original, name), join(folder, name))
  await changed('preprocessor_config.json', changes.preprocessor ?? {})
  // A pass decodes at most half of the decoder's positions, so twice the positions are needed.
  const limits = { max_target_positions: 2 * tokens, stenolog: { timestamps: false } }
  await changed('config.json', { ...limits, ...changes.config })
  const [first, last] = SPECIAL_TOKENS
  await changed(
    'generation_config.json',
    { suppress_tokens: Array.from({ length: last - first + 1 }, (_, i) => first + i) },
  )
  return { name: NAME, parent, folder, original, remove: () => rm(parent, { recursive: true, force: true }) }
}

/** Copies the model with its graphs. Null when the model is absent. */
export const openTinyModel = async (tokens: number): Promise<TinyModel | null> => {
  const copied = await copyTinyFiles(tokens)
  if (copied === null) return null
  await symlink(join(copied.original, 'onnx'), join(copied.folder, 'onnx'))
  return { ...copied, suppressed: SPECIAL_TOKENS }
}

export const TINY_ABSENT = { skipped: `no ${NAME} in STENOLOG_MODELS_DIR or ../shared/models` } as const
