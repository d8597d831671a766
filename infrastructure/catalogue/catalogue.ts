import * as E from 'fp-ts/lib/Either.js'
import type { Decoder } from 'io-ts'
import type { Catalogue, Model, TranslationPair } from '../../application/ports/catalogue.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore, ExpectedRevision, NewEvent, StoredEvent } from '../../application/ports/event-store.ts'
import { CATALOGUE_STREAM, ModelListed, TranslationPairListed } from '../../domain/catalogue/events.ts'
import { decodeOrThrow } from '../../domain/shared/codecs.ts'
import type { EventOf } from '../../domain/shared/event.ts'
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

const listingsOf = (events: ReadonlyArray<StoredEvent>): Listings => {
  const ofType = <A>(definition: { readonly type: string; readonly codec: Decoder<unknown, A> }): ReadonlyArray<A> =>
    events.filter(({ type }) => type === definition.type).map(({ data }) => decodeOrThrow(definition.codec, data))
  return { models: ofType(ModelListed), pairs: ofType(TranslationPairListed) }
}

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

/** The ids of all names and pairs, new ones appended first: whoever loses a race reads again what the winner listed. */
const list = async (
  store: EventStore,
  environment: Environment,
  names: ReadonlyArray<string>,
  installed: ReadonlyArray<Pair>,
): Promise<Listings> => {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const events = await store.read(CATALOGUE_STREAM)()
    if (E.isLeft(events)) throw new Error(`the catalogue cannot be read: ${events.left.reason}`)
    const listings = listingsOf(events.right)
    const missing = missingListings(environment, listings, names, installed)
    if (missing.length === 0) return listings
    const expected: ExpectedRevision = events.right.at(-1)?.revision ?? 'no-stream'
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

/** Puts what is installed now in the place of what was. */
const renew = (folders: Map<string, string>, found: ReadonlyArray<{ readonly name: string; readonly folder: string }>): void => {
  folders.clear()
  for (const { name, folder } of found) folders.set(name, folder)
}

export interface InstalledCatalogue extends Catalogue {
  /** Folders of what is installed, for the engines; they change with `rescan`. */
  readonly folders: ReadonlyMap<string, string>
  readonly translatorFolders: ReadonlyMap<string, string>
  /** Looks again what is installed. Throws when the store cannot be reached. */
  readonly rescan: () => Promise<void>
}

/**
 * What is installed when the service starts, and again whenever it is told to look. A name, or a pair, keeps the id it got when it
 * was first seen, whether its folder comes or goes. Throws when the store cannot be reached.
 */
export const openCatalogue = async (options: {
  readonly store: EventStore
  readonly environment: Environment
  readonly logger: Logger
  /** One folder for each further model; null for none. */
  readonly modelsDir: string | null
  /** Where the models lie that come with the project. */
  readonly bundledDir: string
}): Promise<InstalledCatalogue> => {
  const folders = new Map<string, string>()
  const translatorFolders = new Map<string, string>()
  let models: ReadonlyArray<Model> = []
  let translations: ReadonlyArray<TranslationPair> = []

  const scan = async (): Promise<void> => {
    const installed = await findInstalledModels(options)
    const names = new Set([...INTERFACE_MODELS, BUNDLED_MODEL, ...installed.models.map(({ name }) => name)])
    const pairs = installed.translators.map(({ name: model, from, to }) => ({ model, from, to }))
    const listings = await list(options.store, options.environment, [...names], pairs)
    models = listings.models.flatMap((listing) => modelRow(listing, installed.models)).sort((a, b) => a.id - b.id)
    translations = listings.pairs.flatMap((listing) => pairRow(listing, installed.translators)).sort((a, b) => a.id - b.id)
    renew(folders, installed.models)
    renew(translatorFolders, installed.translators)
  }

  await scan()
  // One after the other: the newest look counts.
  let looking: Promise<void> = Promise.resolve()
  return {
    models: () => models,
    languages: () => LANGUAGE_ROWS,
    translations: () => translations,
    folders,
    translatorFolders,
    rescan: () => (looking = looking.then(scan, scan)),
  }
}
