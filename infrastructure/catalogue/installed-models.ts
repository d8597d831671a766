import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import type { Abilities } from '../../application/ports/catalogue.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { InstalledFacts } from '../../application/ports/installed-models.ts'
import { familyOf } from '../onnx/families.ts'
import { readMarianDirectory } from '../onnx/marian-model.ts'
import type { SpeechFamily } from '../onnx/speech-runner.ts'
import { languagesOfTranslator } from './languages.ts'
import { type Manifest, readManifest } from '../onnx/model-files/manifest.ts'
import { BUNDLED_MODEL, modelNameOf, vramOf } from './models.ts'

/** Folder of the models that come with the project. */
export const BUNDLED_MODELS = join(import.meta.dirname, '..', '..', 'models')

/** Memory and time that a model needs. */
interface Figures extends Omit<InstalledFacts, 'name'> {
  /** Megabytes. */
  readonly vram: number
  /** Milliseconds of a pass in its trial; null without a trial. */
  readonly passMilliseconds: number | null
}

/** A speech model whose folder can be run. */
export interface InstalledModel extends Figures {
  readonly name: string
  readonly folder: string
  readonly abilities: Abilities
}

/** A translator whose folder can be run. */
export interface InstalledTranslator extends Figures {
  readonly name: string
  readonly folder: string
  readonly from: string
  readonly to: string
}

interface Candidate {
  readonly name: string
  readonly folder: string
  /** Whether the model comes with the project. */
  readonly ships: boolean
}

/** A candidate whose manifest has been read; null when it has none. */
interface Described extends Candidate {
  readonly manifest: Manifest | null
}

/**
 * Returns the figures of a model. A measurement counts only if it was made with the same bytes of weights. Without a
 * measurement, the memory is an estimate and the pass time is unknown.
 */
const figuresOf = ({ manifest, ships }: Described, weights: number): Figures => ({
  ships,
  bytes: weights,
  precision: manifest?.precision ?? null,
  source: manifest?.source ?? null,
  measured: manifest?.vram?.weights === weights,
  vram: manifest?.vram?.weights === weights ? manifest.vram.megabytes : vramOf(weights),
  passMilliseconds: manifest?.pass?.weights === weights ? manifest.pass.milliseconds : null,
})

interface Found {
  readonly models: ReadonlyArray<InstalledModel>
  readonly translators: ReadonlyArray<InstalledTranslator>
}

const NOTHING: Found = { models: [], translators: [] }

const inspectTranslator = async (candidate: Described): Promise<E.Either<string, InstalledTranslator>> => {
  const { name, folder } = candidate
  const model = await readMarianDirectory(folder)
  if (E.isLeft(model)) return model
  const languages = languagesOfTranslator(name, model.right.source, model.right.target)
  if (languages === null)
    return E.left('neither tokenizer_config.json nor the name of the folder contains its languages')
  return E.right({ name, folder, ...figuresOf(candidate, model.right.weights.bytes), ...languages })
}

const inspectSpeech = async (candidate: Described, family: SpeechFamily): Promise<E.Either<string, InstalledModel>> => {
  const { name, folder } = candidate
  const model = await family.read(folder, 'cpu')
  if (E.isLeft(model)) return model
  const { abilities, weights } = model.right
  return E.right({ name, folder, ...figuresOf(candidate, weights.bytes), abilities })
}

const inspect = async (candidate: Candidate, logger: Logger): Promise<Found> => {
  const { folder } = candidate
  const unusable = (reason: string): Found => {
    logger.warn({ folder, reason }, 'model folder is not usable and not listed')
    return NOTHING
  }
  const family = await familyOf(folder)
  if (E.isLeft(family)) return unusable(family.left)
  const manifest = await readManifest(folder)
  if (E.isLeft(manifest)) return unusable(manifest.left)
  const described = { ...candidate, manifest: manifest.right }
  if (family.right.kind === 'speech') {
    const model = await inspectSpeech(described, family.right)
    return E.isLeft(model) ? unusable(model.left) : { ...NOTHING, models: [model.right] }
  }
  const translator = await inspectTranslator(described)
  return E.isLeft(translator) ? unusable(translator.left) : { ...NOTHING, translators: [translator.right] }
}

/** Returns the subfolders, without unfinished and removed models, whose names begin with a dot. */
const subfolders = async (directory: string, logger: Logger, mayBeMissing = false): Promise<ReadonlyArray<string>> => {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    return entries
      .flatMap((entry) =>
        (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith('.') ? [entry.name] : [],
      )
      .sort()
  } catch (error) {
    if (mayBeMissing && error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    logger.error({ directory, reason: String(error) }, 'models directory cannot be read')
    return []
  }
}

const firstOfEachName = <A extends Pick<Candidate, 'name' | 'folder'>>(
  found: ReadonlyArray<A>,
  logger: Logger,
): ReadonlyArray<A> => {
  const first = new Map<string, A>()
  for (const model of found) {
    const taken = first.get(model.name)
    if (taken === undefined) first.set(model.name, model)
    else
      logger.warn(
        { folder: model.folder, name: model.name, listed: taken.folder },
        'a model of this name is listed already',
      )
  }
  return [...first.values()]
}

/**
 * Finds the models that come with the project, and the models in the models directory by folder name. If two have
 * the same name, the first counts. The project's speech model comes first. The project's translators come last, so an
 * installed translator replaces them.
 */
export const findInstalledModels = async (options: {
  readonly bundledDir: string
  readonly modelsDir: string | null
  /** True when MODELS_DIR is not set: the first pull creates the default directory. */
  readonly mayBeMissing?: boolean
  readonly logger: Logger
}): Promise<Found> => {
  const { bundledDir, modelsDir, mayBeMissing = false, logger } = options
  const installed = modelsDir === null ? [] : await subfolders(modelsDir, logger, mayBeMissing)
  // A folder with our name for a model comes before a folder with the repository's name.
  const own = installed.filter((folder) => modelNameOf(folder) === folder)
  const renamed = installed.filter((folder) => modelNameOf(folder) !== folder)
  const bundledTranslators = (await subfolders(bundledDir, logger)).filter((folder) => folder !== BUNDLED_MODEL)
  const candidates: ReadonlyArray<Candidate> = [
    { name: BUNDLED_MODEL, folder: join(bundledDir, BUNDLED_MODEL), ships: true },
    ...[...own, ...renamed].map((folder) => {
      const name = modelNameOf(folder)
      return { name, folder: join(modelsDir ?? '', folder), ships: false }
    }),
    ...bundledTranslators.map((folder) => ({ name: folder, folder: join(bundledDir, folder), ships: true })),
  ]
  const found: Array<Found> = []
  for (const candidate of candidates) found.push(await inspect(candidate, logger))
  return {
    models: firstOfEachName(
      found.flatMap(({ models }) => models),
      logger,
    ),
    translators: firstOfEachName(
      found.flatMap(({ translators }) => translators),
      logger,
    ),
  }
}
