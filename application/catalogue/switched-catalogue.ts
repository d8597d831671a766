import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { CATALOGUE_STREAM, type CatalogueEvent } from '../../domain/catalogue/events.ts'
import { type ReferenceKind, type Switches, switchesDecider } from '../../domain/catalogue/switches.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import type { Unavailable } from '../refusals.ts'
import { type FollowDeps, followLog } from '../log/follow-log.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Known } from '../log/states/known-states.ts'
import { loadReadable } from '../log/states/load-state.ts'
import type { Catalogue, TranslationPair } from '../ports/catalogue.ts'

/** The properties that models, languages and translation pairs have in common. */
export interface Row {
  readonly id: number
  readonly active: boolean
  readonly updatedAt: string | null
}

export interface SwitchedCatalogue {
  /** The installed models. Entries that an administrator switched off are inactive. */
  readonly catalogue: Catalogue
  /** Applies the state of the switches up to an event. Null: the state did not change. */
  readonly take: (known: Pick<Known<Switches, unknown>, 'state' | 'revision'>) => void
  /** Resolves when the log is no longer followed, after the signal has aborted. */
  readonly stopped: Promise<void>
}

const withSwitch =
  (switches: Switches, kind: ReferenceKind) =>
  <A extends Row>(row: A): A => {
    const found = switches[kind][row.id]
    return found === undefined ? row : { ...row, active: row.active && found.active, updatedAt: found.at }
  }

const isSamePair = (a: TranslationPair, b: TranslationPair): boolean => a.from === b.from && a.to === b.to

/**
 * Only one of several translators for the same languages is active: the one that the catalogue prefers. If that
 * translator is switched off, the first translator that is switched on is active.
 */
const withPairSwitches = (
  switches: Switches,
  pairs: ReadonlyArray<TranslationPair>,
): ReadonlyArray<TranslationPair> => {
  const isOn = ({ id }: TranslationPair): boolean => switches.translation[id]?.active ?? true
  const chosenFor = (pair: TranslationPair): TranslationPair | undefined => {
    const candidates = pairs.filter((other) => isSamePair(other, pair) && isOn(other))
    return candidates.find(({ active }) => active) ?? candidates[0]
  }
  return pairs.map((pair) => withSwitch(switches, 'translation')({ ...pair, active: chosenFor(pair) === pair }))
}

export interface SwitchedCatalogueDeps extends WriteDeps, Pick<FollowDeps, 'logger' | 'signal'> {}

/**
 * Makes each installed entry inactive that an administrator switched off. It follows the log until the signal aborts,
 * so it also sees what administrators switch in other processes. An unreadable switch event is ignored here, but
 * commands fail while it exists.
 */
export const openSwitchedCatalogue =
  async (deps: SwitchedCatalogueDeps, installed: Catalogue): Promise<Either<Unavailable, SwitchedCatalogue>> => {
    const head = await deps.store.head()
    if (E.isLeft(head)) return head
    const load = () => loadReadable(deps)<Switches, CatalogueEvent>(CATALOGUE_STREAM, switchesDecider)
    const loaded = await load()
    if (E.isLeft(loaded)) return loaded
    let { state } = loaded.right
    let revision = loaded.right.revision ?? -1

    const take: SwitchedCatalogue['take'] = (known) => {
      const newest = known.revision ?? -1
      // The newer state contains both changes.
      if (newest > revision) ({ state } = known)
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
        models: () => installed.models().map(withSwitch(state, 'model')),
        languages: () => installed.languages().map(withSwitch(state, 'language')),
        furtherLanguages: installed.furtherLanguages,
        translations: () => withPairSwitches(state, installed.translations()),
      },
      take,
      stopped,
    })
  }
