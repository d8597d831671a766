import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Logger } from '../../application/ports/environment.ts'
import { readModelDirectory } from '../onnx/model-directory.ts'
import { languagesOf } from '../onnx/whisper-model.ts'
import { BUNDLED_MODEL, modelNameOf, vramOf } from './models.ts'

/** A model whose folder can be run. */
export interface InstalledModel {
  readonly name: string
  readonly folder: string
  readonly vram: number
  readonly languages: ReadonlyArray<string>
}

/** Models that other engines load: nothing to complain about. */
const OTHERS = new Set(['marian'])

const inspect = async (name: string, folder: string, logger: Logger): Promise<ReadonlyArray<InstalledModel>> => {
  const model = await readModelDirectory(folder)
  if (E.isRight(model)) return [{ name, folder, vram: vramOf(model.right.weights.bytes), languages: languagesOf(model.right) }]
  const { modelType, reason } = model.left
  if (modelType === null || !OTHERS.has(modelType)) logger.warn({ folder, reason }, 'model folder is not usable and not listed')
  return []
}

const subfolders = async (directory: string, logger: Logger): Promise<ReadonlyArray<string>> => {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries.flatMap((entry) => (entry.isDirectory() || entry.isSymbolicLink() ? [entry.name] : [])).sort()
  } catch (error) {
    logger.error({ directory, reason: String(error) }, 'models directory cannot be read')
    return []
  }
}

/** The model that ships, then those of the models directory by folder name; of two with one name the first counts. */
export const findInstalledModels = async (options: {
  readonly bundledDir: string
  readonly modelsDir: string | null
  readonly logger: Logger
}): Promise<ReadonlyArray<InstalledModel>> => {
  const { bundledDir, modelsDir, logger } = options
  const further = modelsDir === null ? [] : await subfolders(modelsDir, logger)
  // A folder that has our own name goes before one with its repository's.
  const own = further.filter((folder) => modelNameOf(folder) === folder)
  const renamed = further.filter((folder) => modelNameOf(folder) !== folder)
  const candidates = [
    { name: BUNDLED_MODEL, folder: join(bundledDir, BUNDLED_MODEL) },
    ...[...own, ...renamed].map((folder) => ({ name: modelNameOf(folder), folder: join(modelsDir ?? '', folder) })),
  ]
  const found: InstalledModel[] = []
  for (const { name, folder } of candidates) {
    const models = await inspect(name, folder, logger)
    const taken = found.find((model) => model.name === name)
    if (taken === undefined) found.push(...models)
    else if (models.length > 0) logger.warn({ folder, name, listed: taken.folder }, 'a model of this name is listed already')
  }
  return found
}
