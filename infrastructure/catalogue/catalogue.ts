import { rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  type Catalogue, type Listings, type ListInstalled, type Model, NO_ABILITIES, type TranslationPair,
} from '../../application/ports/catalogue.ts'
import type { Logger } from '../../application/ports/environment.ts'
import type { HiddenModel, InstalledFacts, InstalledModels } from '../../application/ports/installed-models.ts'
import { findInstalledModels, type InstalledModel, type InstalledTranslator } from './installed-models.ts'
import { FURTHER_LANGUAGES, LANGUAGE_ROWS } from './languages.ts'
import { BUNDLED_MODEL, estimatedVramOf, INTERFACE_MODELS } from './models.ts'

type ModelListing = Listings['models'][number]
type PairListing = Listings['pairs'][number]

const modelRow = (
  { modelId, name, at }: ModelListing,
  installed: ReadonlyArray<InstalledModel>,
): ReadonlyArray<Model> => {
  const row = { id: modelId, name, createdAt: at, updatedAt: null }
  const model = installed.find((candidate) => candidate.name === name)
  if (model !== undefined) return [{ ...row, active: true, vram: model.vram, ...model.abilities }]
  const absent = INTERFACE_MODELS.find((candidate) => candidate === name)
  return absent === undefined ? [] : [{ ...row, active: false, vram: estimatedVramOf(absent), ...NO_ABILITIES }]
}

/** Of several translators for one pair, the first found is active. */
const pairRow = (
  { pairId, at, ...pair }: PairListing,
  installed: ReadonlyArray<InstalledTranslator>,
): ReadonlyArray<TranslationPair> => {
  const ofPair = installed.filter(({ from, to }) => from === pair.from && to === pair.to)
  const translator = ofPair.find(({ name }) => name === pair.model)
  if (translator === undefined) return []
  return [
    { id: pairId, ...pair, active: translator === ofPair[0], vram: translator.vram, createdAt: at, updatedAt: null },
  ]
}

/** Models for an engine. Both members change when models are installed or removed. */
export interface EngineModels {
  /** Folders by the names of their models. */
  readonly models: ReadonlyMap<string, string>
  /** Milliseconds of a pass (one run of the model) in the model's trial; undefined without a trial. */
  readonly measuredPass: (model: string) => number | undefined
}

/** Creates the models of an engine; `renew` replaces them. */
const createEngineModels = () => {
  const models = new Map<string, string>()
  const passes = new Map<string, number>()
  return {
    models,
    measuredPass: (model: string): number | undefined => passes.get(model),
    renew: (found: ReadonlyArray<InstalledModel | InstalledTranslator>): void => {
      models.clear()
      passes.clear()
      for (const { name, folder, passMilliseconds } of found) {
        models.set(name, folder)
        if (passMilliseconds !== null) passes.set(name, passMilliseconds)
      }
    },
  }
}

export interface InstalledCatalogue extends Catalogue {
  readonly speech: EngineModels
  readonly translation: EngineModels
  readonly onDisk: InstalledModels
  /** Scans the installed models again. Throws when the store is unavailable. */
  readonly rescan: () => Promise<void>
  /** Returns the folder of an installed model or translator by name. */
  readonly folderOf: (name: string) => string | undefined
}

/** Renames a folder to a hidden name, which no model has. First deletes a leftover of a killed process at this name. */
const hide = async (folder: string): Promise<HiddenModel> => {
  const hidden = join(dirname(folder), `.removing-${basename(folder)}`)
  await rm(hidden, { recursive: true, force: true })
  await rename(folder, hidden)
  return { restore: () => rename(hidden, folder), destroy: () => rm(hidden, { recursive: true, force: true }) }
}

/**
 * Scans the installed models at the start, and at each `rescan`. A model name, or a language pair, always keeps its
 * first id, also while its folder is missing. Throws when the store is unavailable.
 */
export const openCatalogue = async (options: {
  readonly listInstalled: ListInstalled
  readonly logger: Logger
  /** Directory with one folder per installed model; null for none. */
  readonly modelsDir: string | null
  /** True when MODELS_DIR is not set: the first pull creates the default directory. */
  readonly mayBeMissing?: boolean
  /** Folder of the models that come with the project. */
  readonly bundledDir: string
}): Promise<InstalledCatalogue> => {
  const [speech, translation] = [createEngineModels(), createEngineModels()]
  let models: ReadonlyArray<Model> = []
  let translations: ReadonlyArray<TranslationPair> = []
  let facts: ReadonlyArray<InstalledFacts> = []

  const scan = async (): Promise<void> => {
    const installed = await findInstalledModels(options)
    const names = new Set([...INTERFACE_MODELS, BUNDLED_MODEL, ...installed.models.map(({ name }) => name)])
    const pairs = installed.translators.map(({ name: model, from, to }) => ({ model, from, to }))
    const listings = await options.listInstalled([...names], pairs)
    models = listings.models.flatMap((listing) => modelRow(listing, installed.models)).sort((a, b) => a.id - b.id)
    translations = listings.pairs
      .flatMap((listing) => pairRow(listing, installed.translators))
      .sort((a, b) => a.id - b.id)
    facts = [...installed.models, ...installed.translators]
    speech.renew(installed.models)
    translation.renew(installed.translators)
  }

  await scan()
  // Scans run one after another, so the newest result counts.
  let scanning: Promise<void> = Promise.resolve()
  const folderOf = (name: string): string | undefined => speech.models.get(name) ?? translation.models.get(name)
  return {
    models: () => models,
    languages: () => LANGUAGE_ROWS,
    furtherLanguages: () => FURTHER_LANGUAGES,
    translations: () => translations,
    speech,
    translation,
    folderOf,
    onDisk: {
      all: () => facts,
      hide: async (name) => {
        const folder = folderOf(name)
        if (folder === undefined) throw new Error(`${name} is not installed`)
        return await hide(folder)
      },
    },
    rescan: () => (scanning = scanning.then(scan, scan)),
  }
}
