import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathExists } from '../infrastructure/files/path-exists.ts'

const NAME = 'whisper-tiny-random'
/** Tokens for each pass, where the length of a text plays no part in what is measured: about what 10 s of speech have. */
export const TINY_TOKENS = 40
/** First and last token that is no text: end of text, languages, tasks, times. */
const NO_TEXT = [50_257, 51_864] as const

/** Whisper tiny's shape with random weights, as a real model's cost; where models for development lie. */
export interface TinyModel {
  /** The name that it goes by in `parent`. */
  readonly name: string
  /** A folder of models with this one in it. */
  readonly parent: string
  readonly folder: string
  /** The files as they were found. */
  readonly original: string
  readonly suppressed: readonly [number, number]
  readonly remove: () => Promise<void>
}

/**
 * A copy of the model that decodes exactly `tokens` tokens of text for every window: random weights never end a text, so
 * both sides of a comparison get the same limit, and no token but text. Null where the model is absent.
 */
export const openTinyModel = async (tokens: number): Promise<TinyModel | null> => {
  const original = resolve(process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models', NAME)
  if (!(await pathExists(join(original, 'config.json')))) return null
  const parent = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
  const folder = join(parent, NAME)
  await mkdir(folder)
  const changed = async (name: string, members: object): Promise<void> => {
    const json = JSON.parse(await readFile(join(original, name), 'utf8')) as object
    await writeFile(join(folder, name), JSON.stringify({ ...json, ...members }))
  }
  for (const name of ['preprocessor_config.json', 'tokenizer.json', 'tokenizer_config.json']) await cp(join(original, name), join(folder, name))
  await symlink(join(original, 'onnx'), join(folder, 'onnx'))
  // A pass decodes at most half of the decoder's positions.
  await changed('config.json', { max_target_positions: 2 * tokens, stenolog: { timestamps: false } })
  const [first, last] = NO_TEXT
  await changed('generation_config.json', { suppress_tokens: Array.from({ length: last - first + 1 }, (_, i) => first + i) })
  return { name: NAME, parent, folder, original, suppressed: NO_TEXT, remove: () => rm(parent, { recursive: true, force: true }) }
}

export const TINY_ABSENT = { skipped: `no ${NAME} in STENOLOG_MODELS_DIR or ../shared/models` } as const
