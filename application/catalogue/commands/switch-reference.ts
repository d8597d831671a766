import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { CATALOGUE_STREAM } from '../../../domain/catalogue/events.ts'
import { type ReferenceKind, switchesDecider } from '../../../domain/catalogue/switches.ts'
import { actorOf, type Caller } from '../../caller.ts'
import type { LanguageNotFound, ModelNotFound, PairNotFound, Unavailable } from '../../refusals.ts'
import { handleCommand, type WriteDeps } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import type { Language, Model, TranslationPair } from '../../ports/catalogue.ts'
import type { Row, SwitchedCatalogue } from '../switched-catalogue.ts'

/**
 * For administrators: allows or forbids a model, language or translation for new sessions. An entry that is not
 * installed stays inactive.
 */
type Switch<NotFound, A> = (caller: Caller, id: number, active: boolean) => Promise<Either<NotFound | Unavailable, A>>

export type SwitchModel = Switch<ModelNotFound, Model>
export type SwitchLanguage = Switch<LanguageNotFound, Language>
export type SwitchTranslation = Switch<PairNotFound, TranslationPair>

export interface SwitchDeps extends WriteDeps {
  readonly switched: SwitchedCatalogue
}

const switchOf =
  (deps: SwitchDeps) =>
  <NotFound, A extends Row>(
    kind: ReferenceKind,
    rows: () => ReadonlyArray<A>,
    notFound: NotFound,
  ): Switch<NotFound, A> =>
  async (caller, id, active) => {
    const findRow = (): Either<NotFound, A> => E.fromNullable(notFound)(rows().find((row) => row.id === id))
    const row = findRow()
    if (E.isLeft(row)) return row
    const handled = await handleCommand(deps)({
      ...originOf(deps, actorOf(caller)),
      stream: CATALOGUE_STREAM,
      decider: switchesDecider,
      command: { kind, id, active, at: deps.environment.now() },
    })
    if (E.isLeft(handled)) return handled
    const { state, stored } = handled.right
    deps.switched.take({ state, revision: stored.at(-1)?.revision ?? null })
    return findRow()
  }

export const switchModel = (deps: SwitchDeps): SwitchModel =>
  switchOf(deps)('model', deps.switched.catalogue.models, { _tag: 'ModelNotFound' })

export const switchLanguage = (deps: SwitchDeps): SwitchLanguage =>
  switchOf(deps)('language', deps.switched.catalogue.languages, { _tag: 'LanguageNotFound' })

export const switchTranslation = (deps: SwitchDeps): SwitchTranslation =>
  switchOf(deps)('translation', deps.switched.catalogue.translations, { _tag: 'PairNotFound' })
