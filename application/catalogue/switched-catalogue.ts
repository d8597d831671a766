import * as E from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { CATALOGUE_STREAM } from '../../domain/catalogue/events.ts'
import type { CatalogueEvent } from '../../domain/catalogue/events.ts'
import { switchesDecider } from '../../domain/catalogue/switches.ts'
import type { ReferenceKind, Switches } from '../../domain/catalogue/switches.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import type { Unavailable } from '../errors.ts'
import { followLog } from '../log/follow-log.ts'
import type { FollowDeps } from '../log/follow-log.ts'
import { loadReadable } from '../log/handle-command.ts'
import type { Handled, WriteDeps } from '../log/handle-command.ts'
import type { Catalogue, TranslationPair } from '../ports/catalogue.ts'

/** What the rows of all kinds have. */
export interface Row {
  readonly id: number
  readonly active: boolean
  readonly updatedAt: string | null
}

export interface SwitchedCatalogue {
  /** What is installed, as far as administrators left it on. */
  readonly catalogue: Catalogue
  /** Takes over what a switch came to. */
  readonly take: (handled: Pick<Handled<Switches, unknown>, 'state' | 'stored'>) => void
  /** Resolves when the log is no longer followed, after the signal. */
  readonly stopped: Promise<void>
}

const overlaid =
  (switches: Switches, kind: ReferenceKind) =>
  <A extends Row>(row: A): A => {
    const found = switches[kind][row.id]
    return found === undefined ? row : { ...row, active: row.active && found.active, updatedAt: found.at }
  }

const isSamePair = (one: TranslationPair, other: TranslationPair): boolean =>
  one.from === other.from && one.to === other.to

/**
 * Of several installed translators of a pair one is active: the one that the catalogue prefers, and where that is
 * switched off the first by id that is not.
 */
const overlaidPairs = (switches: Switches, pairs: ReadonlyArray<TranslationPair>): ReadonlyArray<TranslationPair> => {
  const isOn = ({ id }: TranslationPair): boolean => switches.translation[id]?.active ?? true
  const chosenFor = (pair: TranslationPair): TranslationPair | undefined => {
    const candidates = pairs.filter((other) => isSamePair(other, pair) && isOn(other))
    return candidates.find(({ active }) => active) ?? candidates[0]
  }
  return pairs.map((pair) => overlaid(switches, 'translation')({ ...pair, active: chosenFor(pair) === pair }))
}

export interface SwitchedCatalogueDeps extends WriteDeps, Pick<FollowDeps, 'logger' | 'signal'> {}

/**
 * What administrators switch off and on, kept in memory beside the catalogue of this process; what other processes
 * switch is heard from the log until the signal. A switch that cannot be read is as if it had not been touched; changes
 * are refused then, by their own read.
 */
export const openSwitchedCatalogue =
  (deps: SwitchedCatalogueDeps, installed: Catalogue): TaskEither<Unavailable, SwitchedCatalogue> =>
  async () => {
    const head = await deps.store.head()()
    if (E.isLeft(head)) return head
    const load = loadReadable(deps)<Switches, CatalogueEvent>(CATALOGUE_STREAM, switchesDecider)
    const loaded = await load()
    if (E.isLeft(loaded)) return loaded
    let { state } = loaded.right
    let revision = loaded.right.stored.at(-1)?.revision ?? -1

    const take: SwitchedCatalogue['take'] = (handled) => {
      const newest = handled.stored.at(-1)?.revision ?? -1
      // Of two that come together the later one knows both.
      if (newest > revision) ({ state } = handled)
      revision = Math.max(revision, newest)
    }
    const { stopped } = followLog({ ...deps, from: head.right }, {
      name: 'the catalogue',
      prefixes: [CATALOGUE_STREAM],
      onEvent: async (_stream, event) => {
        if (event !== null && event.revision > revision) take(orThrow(await load()))
      },
    })
    return E.right({
      catalogue: {
        models: () => installed.models().map(overlaid(state, 'model')),
        languages: () => installed.languages().map(overlaid(state, 'language')),
        furtherLanguages: installed.furtherLanguages,
        translations: () => overlaidPairs(state, installed.translations()),
      },
      take,
      stopped,
    })
  }
