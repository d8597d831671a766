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

const isSame = (a: InstalledPair, b: InstalledPair): boolean =>
  a.model === b.model && a.from === b.from && a.to === b.to

/** Returns events that give the next ids to new names and pairs. */
const missingListings = (
  environment: Environment,
  { models, pairs }: Listings,
  names: ReadonlyArray<string>,
  installed: ReadonlyArray<InstalledPair>,
): ReadonlyArray<NewEvent> => {
  const event = (type: string, data: NewEvent['data']): NewEvent => {
    const id = environment.newId()
    const actor = `instance:${environment.instance}`
    const metadata = { correlationId: id, causationId: id, actor, recordedAt: environment.now() }
    return { id, type, data, metadata }
  }
  const newNames = names.filter((name) => !models.some((listing) => listing.name === name))
  const newPairs = installed.filter((pair) => !pairs.some((listing) => isSame(listing, pair)))
  const at = environment.now()
  // Not the number of listings: after a restore, ids that the replaced log gave out may be missing.
  const lastModel = Math.max(0, ...models.map(({ modelId }) => modelId))
  const lastPair = Math.max(0, ...pairs.map(({ pairId }) => pairId))
  return [
    ...newNames.map((name, index) => event(ModelListed.type, { modelId: lastModel + index + 1, name, at })),
    ...newPairs.map(({ model, from, to }, index) =>
      event(TranslationPairListed.type, { pairId: lastPair + index + 1, model, from, to, at })),
  ]
}

interface ListInstalledDeps {
  readonly store: EventStore
  readonly environment: Environment
  readonly logger: Logger
}

/**
 * Gives ids to new names and pairs, and returns all ids. If another process lists models at the same time, this
 * function reads the stream again. If an event cannot be read, no new ids are given, because that event may contain an
 * id. Rejects when the store is unavailable, with the error of the store as the cause.
 */
export const listInstalled =
  ({ store, environment, logger }: ListInstalledDeps): ListInstalled =>
  async (names, installed) => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const { events, lost } = orThrow(await readUndamaged(store, CATALOGUE_STREAM), 'the catalogue cannot be read')
      const listings = listingsOf(events)
      const missing = missingListings(environment, listings, names, installed)
      if (missing.length === 0) return listings
      if (lost.length > 0 || events.some((event) => E.isLeft(readEvent(event)))) {
        const unlisted = missing.map(({ data }) => data['name'] ?? data['model'])
        logger.error({ unlisted }, 'catalogue has unreadable events; new models cannot be used')
        return listings
      }
      const expected: ExpectedRevision = events.at(-1)?.revision ?? 'no-stream'
      const appended = await store.append(CATALOGUE_STREAM, expected, missing)
      if (E.isLeft(appended) && appended.left._tag === 'StoreUnavailable')
        orThrow(appended, 'the catalogue cannot be written')
    }
    throw new Error(`other processes changed the catalogue during ${ATTEMPTS} attempts to list models`)
  }
