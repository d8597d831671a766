import type { Catalogue, Model, TranslationPair } from '../ports/catalogue.ts'
import type { Environment } from '../ports/environment.ts'
import type { InstalledFacts } from '../ports/installed-models.ts'
import type { Members, Offers } from '../ports/peers/members.ts'

/** For how long what a worker offered counts after it was seen last: a restart takes nobody's models away. */
const REMEMBERED_MS = 10 * 60_000

export interface OfferedCatalogueDeps {
  readonly members: Pick<Members, 'self' | 'all'>
  readonly environment: Pick<Environment, 'monotonic'>
  /** The same everywhere. */
  readonly languages: Pick<Catalogue, 'languages' | 'furtherLanguages'>
  /** What is installed here, as it is at this moment; absent in a process that is no worker. */
  readonly own?: Pick<Catalogue, 'models' | 'translations'>
}

export interface OfferedCatalogue extends Catalogue {
  /** What workers know of their models on disk, the first of each name. */
  readonly onDisk: { readonly all: () => ReadonlyArray<InstalledFacts> }
}

/** A worker may have a larger copy than another: whoever is given the live has room for it. */
const largest = (rows: ReadonlyArray<{ readonly vram: number }>): number => Math.max(...rows.map(({ vram }) => vram))

/** What every worker that has it can do: a live may be moved to any of them. */
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
  }
}

const commonPair = (first: TranslationPair, rows: ReadonlyArray<TranslationPair>): TranslationPair => ({
  ...first,
  active: rows.some(({ active }) => active),
  vram: largest(rows),
})

const united = <Row extends { readonly id: number }>(
  lists: ReadonlyArray<ReadonlyArray<Row>>,
  common: (first: Row, rows: ReadonlyArray<Row>) => Row,
): ReadonlyArray<Row> => {
  const byId = new Map<number, Array<Row>>()
  for (const row of lists.flat()) byId.set(row.id, [...(byId.get(row.id) ?? []), row])
  return [...byId.values()].flatMap((rows) => rows.slice(0, 1).map((first) => common(first, rows))).toSorted((a, b) => a.id - b.id)
}

type Listed = Pick<Offers, 'models' | 'translations' | 'onDisk'>

/**
 * What the workers together have: ids come from the log, so that all name a model alike. Where they differ in a model it
 * is as large as the largest and does what all of them do.
 */
export const offeredCatalogue = ({ members, environment, languages, own }: OfferedCatalogueDeps): OfferedCatalogue => {
  const remembered = new Map<string, { readonly offers: Listed; readonly seen: number }>()

  const offers = (): ReadonlyArray<Listed> => {
    const now = environment.monotonic()
    for (const { name, offers } of members.all()) if (offers !== null) remembered.set(name, { offers, seen: now })
    for (const [name, { seen }] of remembered) if (now - seen > REMEMBERED_MS) remembered.delete(name)
    return [...remembered].flatMap(([name, one]) => (own !== undefined && name === members.self.name ? [] : [one.offers]))
  }
  const withoutLoad = ({ models }: Pick<Offers, 'models'>): ReadonlyArray<Model> =>
    models.map(({ device: _device, share: _share, isLoaded: _isLoaded, ...model }) => model)

  return {
    ...languages,
    models: () => united([...(own === undefined ? [] : [own.models()]), ...offers().map(withoutLoad)], commonModel),
    translations: () =>
      united([...(own === undefined ? [] : [own.translations()]), ...offers().map(({ translations }) => translations)], commonPair),
    onDisk: {
      all: () => [...new Map(offers().flatMap(({ onDisk = [] }) => onDisk).toReversed().map((one) => [one.name, one])).values()],
    },
  }
}
