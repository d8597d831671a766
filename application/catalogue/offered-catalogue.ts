import type { Catalogue, Model, TranslationPair } from '../ports/catalogue.ts'
import type { Environment } from '../ports/environment.ts'
import type { InstalledFacts } from '../ports/installed-models.ts'
import type { Members, Offers } from '../ports/members.ts'

/** The models of a worker are kept this long after the worker was last seen, so they stay while it restarts. */
const OFFERS_KEPT_MS = 10 * 60_000

export interface OfferedCatalogueDeps {
  readonly members: Pick<Members, 'self' | 'all'>
  readonly environment: Pick<Environment, 'monotonic'>
  /** All processes have the same languages. */
  readonly languages: Pick<Catalogue, 'languages' | 'furtherLanguages'>
  /** The present models of this process. Absent in a process that is not a worker. */
  readonly own?: Pick<Catalogue, 'models' | 'translations'>
}

export interface OfferedCatalogue extends Catalogue {
  /** Facts about the workers' models, one entry for each name. */
  readonly onDisk: { readonly all: () => ReadonlyArray<InstalledFacts> }
}

/** Workers may have copies of different sizes. The largest size counts, so every worker has enough memory. */
const largest = (rows: ReadonlyArray<{ readonly vram: number }>): number => Math.max(...rows.map(({ vram }) => vram))

/** Returns the abilities that all workers with the model have, because a session may move to any of them. */
const commonModel = (first: Model, rows: ReadonlyArray<Model>): Model => {
  const active = rows.filter((row) => row.active)
  const able = active.length > 0 ? active : rows
  return {
    ...first,
    active: active.length > 0,
    vram: largest(able),
    languages: (able[0]?.languages ?? []).filter((code) => able.every(({ languages }) => languages.includes(code))),
    findsLanguage: able.every(({ findsLanguage }) => findsLanguage),
    translates: able.every(({ translates }) => translates),
    hasWords: able.every(({ hasWords }) => hasWords),
    takesVocabulary: able.every(({ takesVocabulary }) => takesVocabulary),
  }
}

const commonPair = (first: TranslationPair, rows: ReadonlyArray<TranslationPair>): TranslationPair => ({
  ...first,
  active: rows.some(({ active }) => active),
  vram: largest(rows),
})

/** Combines the rows that have the same id. */
const uniteById = <Row extends { readonly id: number }>(
  lists: ReadonlyArray<ReadonlyArray<Row>>,
  common: (first: Row, rows: ReadonlyArray<Row>) => Row,
): ReadonlyArray<Row> => {
  const byId = new Map<number, Array<Row>>()
  for (const row of lists.flat()) byId.set(row.id, [...(byId.get(row.id) ?? []), row])
  return [...byId.values()]
    .flatMap((rows) => rows.slice(0, 1).map((first) => common(first, rows)))
    .toSorted((a, b) => a.id - b.id)
}

type OfferedModels = Pick<Offers, 'models' | 'translations' | 'onDisk'>

/**
 * The models of all workers together. Ids come from the log, so each model has the same id everywhere. If workers have
 * different copies of a model, it gets the largest size and the common abilities.
 */
export const offeredCatalogue = ({ members, environment, languages, own }: OfferedCatalogueDeps): OfferedCatalogue => {
  const lastOffers = new Map<string, { readonly offers: OfferedModels; readonly seen: number }>()

  const offersOfOthers = (): ReadonlyArray<OfferedModels> => {
    const now = environment.monotonic()
    for (const { name, offers } of members.all()) if (offers !== null) lastOffers.set(name, { offers, seen: now })
    for (const [name, { seen }] of lastOffers) if (now - seen > OFFERS_KEPT_MS) lastOffers.delete(name)
    const isOwn = (name: string): boolean => own !== undefined && name === members.self.name
    return [...lastOffers].flatMap(([name, { offers }]) => (isOwn(name) ? [] : [offers]))
  }
  const catalogueModels = ({ models }: Pick<Offers, 'models'>): ReadonlyArray<Model> =>
    models.map(({ device: _device, share: _share, isLoaded: _isLoaded, ...model }) => model)

  return {
    ...languages,
    models: () => {
      const lists = offersOfOthers().map(catalogueModels)
      return uniteById(own === undefined ? lists : [own.models(), ...lists], commonModel)
    },
    translations: () => {
      const lists = offersOfOthers().map(({ translations }) => translations)
      return uniteById(own === undefined ? lists : [own.translations(), ...lists], commonPair)
    },
    onDisk: {
      all: () => {
        const facts = offersOfOthers().flatMap(({ onDisk = [] }) => onDisk)
        return [...new Map(facts.toReversed().map((fact) => [fact.name, fact])).values()]
      },
    },
  }
}
