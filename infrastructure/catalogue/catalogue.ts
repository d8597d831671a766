import * as E from 'fp-ts/lib/Either.js'
import type { Catalogue, Model } from '../../application/ports/catalogue.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore, ExpectedRevision, NewEvent } from '../../application/ports/event-store.ts'
import { CATALOGUE_STREAM, ModelListed } from '../../domain/catalogue/events.ts'
import type { CatalogueEvent } from '../../domain/catalogue/events.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'
import { findInstalledModels } from './installed-models.ts'
import type { InstalledModel } from './installed-models.ts'
import { LANGUAGE_ROWS } from './languages.ts'
import { BUNDLED_MODEL, estimatedVramOf, INTERFACE_MODELS } from './models.ts'

type Listing = CatalogueEvent['data']

const ATTEMPTS = 5

const listingEvent = (environment: Environment, modelId: number, name: string): NewEvent => {
  const at = environment.now()
  const id = environment.newId()
  return {
    id,
    type: ModelListed.type,
    data: ModelListed.codec.encode({ modelId, name, at }) as NewEvent['data'],
    metadata: { correlationId: id, causationId: id, actor: `instance:${environment.instance}`, recordedAt: at },
  }
}

/** The ids of all names, new ones appended first: whoever loses a race reads again what the winner listed. */
const listNames = async (store: EventStore, environment: Environment, names: ReadonlyArray<string>): Promise<ReadonlyArray<Listing>> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const events = await store.read(CATALOGUE_STREAM)()
    if (E.isLeft(events)) throw new Error(`the catalogue cannot be read: ${events.left.reason}`)
    const listings = events.right.map(({ data }) => decodeOrThrow(ModelListed.codec, data))
    const missing = names.filter((name) => !listings.some((listing) => listing.name === name))
    if (missing.length === 0) return listings
    const expected: ExpectedRevision = events.right.at(-1)?.revision ?? 'no-stream'
    const appended = await store.append(
      CATALOGUE_STREAM,
      expected,
      missing.map((name, index) => listingEvent(environment, listings.length + index + 1, name)),
    )()
    if (E.isLeft(appended) && appended.left._tag === 'StoreUnavailable') {
      throw new Error(`the catalogue cannot be written: ${appended.left.reason}`)
    }
  }
  throw new Error(`the catalogue changed under ${ATTEMPTS} attempts to list models`)
}

const modelRow = ({ modelId, name, at }: Listing, installed: ReadonlyArray<InstalledModel>): ReadonlyArray<Model> => {
  const row = { id: modelId, name, createdAt: at, updatedAt: null }
  const model = installed.find((candidate) => candidate.name === name)
  if (model !== undefined) return [{ ...row, active: true, vram: model.vram, languages: model.languages }]
  const absent = INTERFACE_MODELS.find((candidate) => candidate === name)
  return absent === undefined ? [] : [{ ...row, active: false, vram: estimatedVramOf(absent), languages: [] }]
}

/**
 * What is installed when the service starts. A name keeps the id it got when it was first seen, whether its folder
 * comes or goes. `folders` are the active models', for the engine. Throws when the store cannot be reached.
 */
export const openCatalogue = async (options: {
  readonly store: EventStore
  readonly environment: Environment
  readonly logger: Logger
  /** One folder for each further model; null for none. */
  readonly modelsDir: string | null
  /** Where the models lie that come with the project. */
  readonly bundledDir: string
}): Promise<Catalogue & { readonly folders: ReadonlyMap<string, string> }> => {
  const installed = await findInstalledModels(options)
  const names = new Set([...INTERFACE_MODELS, BUNDLED_MODEL, ...installed.map(({ name }) => name)])
  const listings = await listNames(options.store, options.environment, [...names])
  const models = listings.flatMap((listing) => modelRow(listing, installed)).sort((a, b) => a.id - b.id)
  return {
    models: () => models,
    languages: () => LANGUAGE_ROWS,
    translations: () => [],
    folders: new Map(installed.map(({ name, folder }) => [name, folder])),
  }
}
