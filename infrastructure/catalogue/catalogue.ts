import * as E from 'fp-ts/lib/Either.js'
import type { Catalogue, Model, TranslationPair } from '../../application/ports/catalogue.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore, ExpectedRevision, NewEvent, StoredEvent } from '../../application/ports/event-store.ts'
import { readAround } from '../../application/ports/read-around.ts'
import { CATALOGUE_STREAM, ModelListed, TranslationPairListed } from '../../domain/catalogue/events.ts'
import type { EventOf } from '../../domain/shared/event.ts'
import { reading, readEvent } from '../../domain/shared/read-event.ts'
import { findInstalledModels } from './installed-models.ts'
import type { InstalledModel, InstalledTranslator } from './installed-models.ts'
import { LANGUAGE_ROWS } from './languages.ts'
import { BUNDLED_MODEL, estimatedVramOf, INTERFACE_MODELS } from './models.ts'

type ModelListing = EventOf<typeof ModelListed>['data']
type PairListing = EventOf<typeof TranslationPairListed>['data']
type Pair = Pick<PairListing, 'model' | 'from' | 'to'>

/** All that was ever listed. */
interface Listings {
  readonly models: ReadonlyArray<ModelListing>
  readonly pairs: ReadonlyArray<PairListing>
}

const ATTEMPTS = 5

const modelListed = reading([ModelListed])
const pairListed = reading([TranslationPairListed])

const listingsOf = (events: ReadonlyArray<StoredEvent>): Listings => ({
  models: events.flatMap((event) => modelListed(event)?.data ?? []),
  pairs: events.flatMap((event) => pairListed(event)?.data ?? []),
})

const isSame = (one: Pair, other: Pair): boolean => one.model === other.model && one.from === other.from && one.to === other.to

/** Events for what is not listed yet, with the next ids. */
const missingListings = (
  environment: Environment,
  { models, pairs }: Listings,
  names: ReadonlyArray<string>,
  installed: ReadonlyArray<Pair>,
): ReadonlyArray<NewEvent> => {
  const event = (type: string, data: NewEvent['data']): NewEvent => {
    const id = environment.newId()
    const metadata = { correlationId: id, causationId: id, actor: `instance:${environment.instance}`, recordedAt: environment.now() }
    return { id, type, data, metadata }
  }
  const newNames = names.filter((name) => !models.some((listing) => listing.name === name))
  const newPairs = installed.filter((pair) => !pairs.some((listing) => isSame(listing, pair)))
  const at = environment.now()
  return [
    ...newNames.map((name, index) => event(ModelListed.type, { modelId: models.length + index + 1, name, at })),
    ...newPairs.map(({ model, from, to }, index) => event(TranslationPairListed.type, { pairId: pairs.length + index + 1, model, from, to, at })),
  ]
}

interface CatalogueDeps {
  readonly store: EventStore
  readonly environment: Environment
  readonly logger: Logger
}

/**
 * The ids of all names and pairs, new ones appended first: whoever loses a race reads again what the winner listed.
 * Where something cannot be read, which may be a listing too, nothing is listed anew: no id may be given twice.
 */
const list = async (
  { store, environment, logger }: CatalogueDeps,
  names: ReadonlyArray<string>,
  installed: ReadonlyArray<Pair>,
): Promise<Listings> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const around = await readAround(store, CATALOGUE_STREAM)()
    if (E.isLeft(around)) throw new Error(`the catalogue cannot be read: ${around.left.reason}`)
    const { events, lost } = around.right
    const listings = listingsOf(events)
    const missing = missingListings(environment, listings, names, installed)
    if (missing.length === 0) return listings
    if (lost.length > 0 || events.some((event) => E.isLeft(readEvent(event)))) {
      const unlisted = missing.map(({ data }) => data['name'] ?? data['model'])
      logger.error({ unlisted }, 'the catalogue cannot be read in full: what is not listed yet cannot be used')
      return listings
    }
    const expected: ExpectedRevision = events.at(-1)?.revision ?? 'no-stream'
    const appended = await store.append(CATALOGUE_STREAM, expected, missing)()
    if (E.isLeft(appended) && appended.left._tag === 'StoreUnavailable') {
      throw new Error(`the catalogue cannot be written: ${appended.left.reason}`)
    }
  }
  throw new Error(`the catalogue changed under ${ATTEMPTS} attempts to list models`)
}

const modelRow = ({ modelId, name, at }: ModelListing, installed: ReadonlyArray<InstalledModel>): ReadonlyArray<Model> => {
  const row = { id: modelId, name, createdAt: at, updatedAt: null }
  const model = installed.find((candidate) => candidate.name === name)
  if (model !== undefined) return [{ ...row, active: true, vram: model.vram, languages: model.languages }]
  const absent = INTERFACE_MODELS.find((candidate) => candidate === name)
  return absent === undefined ? [] : [{ ...row, active: false, vram: estimatedVramOf(absent), languages: [] }]
}

/** Of several translators of one pair the first that was found is active. */
const pairRow = ({ pairId, at, ...pair }: PairListing, installed: ReadonlyArray<InstalledTranslator>): ReadonlyArray<TranslationPair> => {
  const ofPair = installed.filter(({ from, to }) => from === pair.from && to === pair.to)
  const translator = ofPair.find(({ name }) => name === pair.model)
  if (translator === undefined) return []
  return [{ id: pairId, ...pair, active: translator === ofPair[0], vram: translator.vram, createdAt: at, updatedAt: null }]
}

/** For an engine; both change with what is installed. */
export interface EngineModels {
  /** Folders by the names of their models. */
  readonly models: ReadonlyMap<string, string>
  /** Milliseconds of a pass of the model's trial, if it had one. */
  readonly measuredPass: (model: string) => number | undefined
}

/** Of what `renew` was given last. */
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
  /** Looks again what is installed. Throws when the store cannot be reached. */
  readonly rescan: () => Promise<void>
}

/**
 * What is installed when the service starts, and again whenever it is told to look. A name, or a pair, keeps the id it got when it
 * was first seen, whether its folder comes or goes. Throws when the store cannot be reached.
 */
export const openCatalogue = async (options: CatalogueDeps & {
  /** One folder for each further model; null for none. */
  readonly modelsDir: string | null
  /** Where the models lie that come with the project. */
  readonly bundledDir: string
}): Promise<InstalledCatalogue> => {
  const [speech, translation] = [createEngineModels(), createEngineModels()]
  let models: ReadonlyArray<Model> = []
  let translations: ReadonlyArray<TranslationPair> = []

  const scan = async (): Promise<void> => {
    const installed = await findInstalledModels(options)
    const names = new Set([...INTERFACE_MODELS, BUNDLED_MODEL, ...installed.models.map(({ name }) => name)])
    const pairs = installed.translators.map(({ name: model, from, to }) => ({ model, from, to }))
    const listings = await list(options, [...names], pairs)
    models = listings.models.flatMap((listing) => modelRow(listing, installed.models)).sort((a, b) => a.id - b.id)
    translations = listings.pairs.flatMap((listing) => pairRow(listing, installed.translators)).sort((a, b) => a.id - b.id)
    speech.renew(installed.models)
    translation.renew(installed.translators)
  }

  await scan()
  // One after the other: the newest look counts.
  let looking: Promise<void> = Promise.resolve()
  return {
    models: () => models,
    languages: () => LANGUAGE_ROWS,
    translations: () => translations,
    speech,
    translation,
    rescan: () => (looking = looking.then(scan, scan)),
  }
}
