import * as t from 'io-ts'
import type {
  DetailedModel, DetailedPair, ModelDetails,
} from '../../../application/catalogue/queries/list-installed-models.ts'
import type { Catalogue } from '../../../application/ports/catalogue.ts'
import { count, modelMembers, nullable, pairMembers, presentModel, presentTranslation } from './presenters.ts'

/** Members of a model or translator that only administrators see. */
const detailMembers = {
  languages: t.readonlyArray(t.string),
  installed: t.boolean,
  ships: t.boolean,
  /** Result of the last attempt to load the model. Null before the first attempt since the start. */
  loads: nullable(t.boolean),
  precision: nullable(t.string),
  source: nullable(t.string),
  bytes: nullable(count),
  measured: t.boolean,
  open_lives: count,
}
export const adminModelView = t.strict({ ...modelMembers, ...detailMembers }, 'AdminModel')
export const adminTranslationView = t.strict({ ...pairMembers, ...detailMembers }, 'AdminTranslationPair')

const presentDetails = ({ installed, ships, loads, precision, source, bytes, measured, openLives }: ModelDetails) => ({
  installed, ships, loads, precision, source, bytes, measured, open_lives: openLives,
})

export const presentAdminModel = ({ model, details }: DetailedModel): t.TypeOf<typeof adminModelView> => ({
  ...presentModel(model),
  languages: model.languages,
  ...presentDetails(details),
})

export const presentAdminTranslation =
  (catalogue: Catalogue) =>
  ({ pair, details }: DetailedPair): t.TypeOf<typeof adminTranslationView> => ({
    ...presentTranslation(pair, catalogue),
    languages: [pair.from, pair.to],
    ...presentDetails(details),
  })
