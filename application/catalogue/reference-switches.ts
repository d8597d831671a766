import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { CATALOGUE_STREAM } from '../../domain/catalogue/events.ts'
import { switchesDecider } from '../../domain/catalogue/switches.ts'
import type { ReferenceKind, Switches } from '../../domain/catalogue/switches.ts'
import { actorOf } from '../caller.ts'
import type { Caller } from '../caller.ts'
import type { Unavailable } from '../errors.ts'
import { handleCommand, loadReadable } from '../log/handle-command.ts'
import type { WriteDeps } from '../log/handle-command.ts'
import type { Catalogue, TranslationPair } from '../ports/catalogue.ts'
import type { Services } from '../services.ts'

interface Row {
  readonly id: number
  readonly active: boolean
  readonly updatedAt: string | null
}

export interface ReferenceSwitches extends Pick<Services, 'switchModel' | 'switchLanguage' | 'switchTranslation'> {
  /** What is installed, as far as administrators left it on. */
  readonly catalogue: Catalogue
}

const overlaid =
  (switches: Switches, kind: ReferenceKind) =>
  <A extends Row>(row: A): A => {
    const found = switches[kind][row.id]
    return found === undefined ? row : { ...row, active: row.active && found.active, updatedAt: found.at }
  }

const isSamePair = (one: TranslationPair, other: TranslationPair): boolean => one.from === other.from && one.to === other.to

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

/**
 * What administrators switch off and on, kept in memory beside the catalogue of this process. A switch that cannot be
 * read is as if it had not been touched; changes are refused then, by their own read.
 */
export const openReferenceSwitches =
  (deps: WriteDeps, installed: Catalogue): TaskEither<Unavailable, ReferenceSwitches> =>
  async () => {
    const loaded = await loadReadable(deps)(CATALOGUE_STREAM, switchesDecider)()
    if (E.isLeft(loaded)) return loaded
    let { state } = loaded.right
    let revision = loaded.right.stored.at(-1)?.revision ?? -1

    const catalogue: Catalogue = {
      models: () => installed.models().map(overlaid(state, 'model')),
      languages: () => installed.languages().map(overlaid(state, 'language')),
      translations: () => overlaidPairs(state, installed.translations()),
    }

    const change =
      <A extends Row, N>(kind: ReferenceKind, rows: () => ReadonlyArray<A>, notFound: N) =>
      (caller: Caller, id: number, active: boolean): TaskEither<N | Unavailable, A> =>
      async (): Promise<Either<N | Unavailable, A>> => {
        if (!rows().some((row) => row.id === id)) return E.left(notFound)
        const command = { kind, id, active, at: deps.environment.now() }
        const commandId = deps.environment.newId()
        const about = { commandId, correlationId: commandId, actor: actorOf(caller) }
        const handled = await handleCommand(deps)({ ...about, stream: CATALOGUE_STREAM, decider: switchesDecider, command })()
        if (E.isLeft(handled)) return handled
        const newest = handled.right.stored.at(-1)?.revision ?? -1
        // Of two that come together the later one knows both.
        if (newest > revision) ({ state } = handled.right)
        revision = Math.max(revision, newest)
        return E.fromNullable(notFound)(rows().find((row) => row.id === id))
      }

    return E.right({
      catalogue,
      switchModel: change('model', catalogue.models, { _tag: 'ModelNotFound' } as const),
      switchLanguage: change('language', catalogue.languages, { _tag: 'LanguageNotFound' } as const),
      switchTranslation: change('translation', catalogue.translations, { _tag: 'PairNotFound' } as const),
    })
  }
