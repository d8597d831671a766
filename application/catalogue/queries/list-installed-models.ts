import type { AdmissionState } from '../../../domain/admission/state.ts'
import type { Catalogue, Model, TranslationPair } from '../../ports/catalogue.ts'
import type { InstalledFacts, InstalledModels } from '../../ports/installed-models.ts'

/** Details of a model that only administrators see. */
export interface ModelDetails extends Omit<InstalledFacts, 'name' | 'bytes'> {
  readonly installed: boolean
  /** Null when the model is not installed. */
  readonly bytes: number | null
  /** True when its last load succeeded. Null when it was not loaded after the start. */
  readonly loads: boolean | null
  readonly openLives: number
}

export interface DetailedModel {
  readonly model: Model
  readonly details: ModelDetails
}

export interface DetailedPair {
  readonly pair: TranslationPair
  readonly details: ModelDetails
}

/** For administrators: all models and translation pairs, with details of their models. */
export interface DetailedCatalogue {
  readonly models: () => ReadonlyArray<DetailedModel>
  readonly translations: () => ReadonlyArray<DetailedPair>
}

interface AdmittedLives {
  readonly state: () => Pick<AdmissionState, 'open'>
}

export interface DetailedCatalogueDeps {
  readonly catalogue: Catalogue
  readonly onDisk: Pick<InstalledModels, 'all'>
  readonly loads: (model: string) => boolean | null
  readonly admission: AdmittedLives
}

/** Counts the open sessions that use the model or translator with this name. */
export const openLivesWith = ({ state }: AdmittedLives, name: string): number =>
  state().open.filter(({ needs }) => needs?.includes(name) === true).length

export const detailedCatalogue = (deps: DetailedCatalogueDeps): DetailedCatalogue => {
  const { catalogue, onDisk, loads, admission } = deps
  const detailsOf = (model: string): ModelDetails => {
    const found = onDisk.all().find(({ name }) => name === model)
    return {
      installed: found !== undefined,
      ships: found?.ships ?? false,
      bytes: found?.bytes ?? null,
      precision: found?.precision ?? null,
      source: found?.source ?? null,
      measured: found?.measured ?? false,
      loads: loads(model),
      openLives: openLivesWith(admission, model),
    }
  }
  return {
    models: () => catalogue.models().map((model) => ({ model, details: detailsOf(model.name) })),
    translations: () => catalogue.translations().map((pair) => ({ pair, details: detailsOf(pair.model) })),
  }
}
