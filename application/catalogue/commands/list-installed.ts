import * as E from 'fp-ts/lib/Either.js'
import { CATALOGUE_STREAM, ModelListed, TranslationPairListed } from '../../../domain/catalogue/events.ts'
import { eventReader, readEvent } from '../../../domain/read-event.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { readUndamaged } from '../../log/read-undamaged.ts'
import type { InstalledPair, ListInstalled, Listings } from '../../ports/catalogue.ts'
import type { Environment, Logger } from '../../ports/environment.ts'
import type { EventStore, ExpectedRevision, NewEvent, StoredEvent } from '../../ports/event-store.ts'

const ATTEMPTS = 5

const modelListed = eventReader([ModelListed])
const pairListed = eventReader([TranslationPairListed])

const listingsOf = (events: ReadonlyArray<StoredEvent>): Listings => ({
  models: events.flatMap((event) => modelListed(event)?.data ?? []),
  pairs: events.flatMap((event) => pairListed(event)?.data ?? []),
})

const isSame = (one: InstalledPair, other: InstalledPair): boolean => one.model === other.model && one.from === other.from && one.to === other.to

/** Events for what is not listed yet, with the next ids. */
const missingListings = (
  environment: Environment,
  { models, pairs }: Listings,
  names: ReadonlyArray<string>,
  installed: ReadonlyArray<InstalledPair>,
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

interface ListInstalledDeps {
  readonly store: EventStore
  readonly environment: Environment
  readonly logger: Logger
}

/**
 * The ids of all names and pairs, new ones appended first: whoever loses a race reads again what the winner listed.
 * Where something cannot be read, which may be a listing too, nothing is listed anew: no id may be given twice.
 * Rejects when the store cannot be reached, which is the cause then.
 */
export const listInstalled =
  ({ store, environment, logger }: ListInstalledDeps): ListInstalled =>
  async (names, installed) => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { events, lost } = orThrow(await readUndamaged(store, CATALOGUE_STREAM)(), 'the catalogue cannot be read')
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
      if (E.isLeft(appended) && appended.left._tag === 'StoreUnavailable') orThrow(appended, 'the catalogue cannot be written')
    }
    throw new Error(`the catalogue changed under ${ATTEMPTS} attempts to list models`)
  }
