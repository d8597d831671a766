import { NO_ABILITIES } from '../../../application/ports/catalogue.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { readManifest } from '../../../infrastructure/onnx/model-files/manifest.ts'
import { PULLED_BY_NAME } from '../../../infrastructure/catalogue/models.ts'
import { type Control, withControl } from '../control-client.ts'
import { findInstalled, listedModels, type ModelRow, notInstalled, type PairRow, rows } from './installed.ts'
import { tableOf } from '../table.ts'

interface Row {
  readonly name: string
  readonly kind: 'speech' | 'translation'
  readonly active: boolean
  /** Memory of one loaded copy, in MB. */
  readonly vram: number
  /** False when `vram` is estimated from the size of the files. */
  readonly measured: boolean
  /** ISO 639-1 codes. A translator has two: source and target. */
  readonly languages: ReadonlyArray<string>
  readonly folder: string | null
  readonly source: string | null
  readonly precision: string | null
}

const originOf = async (folder: string | null): Promise<Pick<Row, 'folder' | 'source' | 'precision' | 'measured'>> => {
  const manifest = folder === null ? null : orThrow(await readManifest(folder), folder)
  return {
    folder,
    source: manifest?.source ?? null,
    precision: manifest?.precision ?? null,
    measured: manifest?.vram !== undefined,
  }
}

const rowsOf = async (control: Control): Promise<ReadonlyArray<Row>> => {
  const [{ models, pairs }, installed] = [await listedModels(control), await findInstalled()]
  const speech = models.map(async ({ name, active, vram }): Promise<Row> => {
    const found = installed.models.find((model) => model.name === name)
    const { languages } = found?.abilities ?? NO_ABILITIES
    return { name, kind: 'speech', active, vram, languages, ...(await originOf(found?.folder ?? null)) }
  })
  const translation = pairs.map(async ({ model, active, vram, lang_from, lang_to }): Promise<Row> => {
    const found = installed.translators.find(({ name }) => name === model)
    const languages = [lang_from.iso_639_1, lang_to.iso_639_1]
    return { name: model, kind: 'translation', active, vram, languages, ...(await originOf(found?.folder ?? null)) }
  })
  return Promise.all([...speech, ...translation])
}

const MAX_SHOWN_LANGUAGES = 4

const languagesIn = ({ kind, languages }: Row): string => {
  if (kind === 'translation') return languages.join(' > ')
  return languages.length > MAX_SHOWN_LANGUAGES ? `${languages.length} languages` : languages.join(' ')
}

const HEADINGS = ['name', 'kind', 'active', 'MB', 'languages', 'precision', 'source', 'folder']

const cellsOf = (row: Row): ReadonlyArray<string> => {
  const { name, kind, active, measured, vram, precision, source, folder } = row
  const memory = `${measured ? '' : '~'}${vram}`
  return [name, kind, active ? 'yes' : 'no', memory, languagesIn(row), precision ?? '', source ?? '', folder ?? '-']
}

export const listModels = async (json: boolean): Promise<number> => {
  const found = await withControl(rowsOf)
  console.log(json ? JSON.stringify(found) : tableOf(HEADINGS, found.map(cellsOf)))
  const more = PULLED_BY_NAME.filter((name) => found.every((row) => row.name !== name || row.folder === null))
  if (!json && more.length > 0)
    console.error(`hint: Install another model: npm run stenolog -- models pull NAME (${more.join(', ')})`)
  return 0
}

/** Enables or disables a model for new sessions. The name of a translator stands for all its language pairs. */
export const switchModels = async (name: string, active: boolean, json: boolean): Promise<number> => {
  const changed = await withControl(async (control) => {
    const { models, pairs } = await listedModels(control)
    const body = { is_active: active }
    const done: Array<ModelRow | PairRow> = []
    for (const { id } of models.filter((row) => row.name === name))
      done.push(await control.request('PUT', `/admin/models/${id}`, rows.model, body))
    for (const { id } of pairs.filter((row) => row.model === name))
      done.push(await control.request('PUT', `/admin/translations/${id}`, rows.pair, body))
    return done
  })
  if (changed.length === 0) throw notInstalled(name, [])
  const states = changed.map((row) => `${name} is ${row.active ? 'active' : 'inactive'}`)
  console.log(json ? JSON.stringify(changed) : states.join('\n'))
  if (active && changed.every((row) => !row.active))
    console.error(
      `warning: ${name} stays inactive: it is not installed, or the service prefers another translator of this pair`,
    )
  return 0
}
