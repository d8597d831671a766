import { NO_ABILITIES } from '../../../application/ports/catalogue.ts'
import { readManifest } from '../../../infrastructure/catalogue/manifest.ts'
import { PULLED_BY_NAME } from '../../../infrastructure/catalogue/models.ts'
import { withControl } from '../control-client.ts'
import type { Control } from '../control-client.ts'
import { findInstalled, listedModels, notInstalled, rows } from './found.ts'
import type { ModelRow, PairRow } from './found.ts'
import { tableOf } from '../table.ts'

interface Row {
  readonly name: string
  readonly kind: 'speech' | 'translation'
  readonly active: boolean
  /** Megabytes of one loaded set. */
  readonly vram: number
  /** Whether `vram` was measured; else it is estimated from the size of the files. */
  readonly measured: boolean
  /** ISO 639-1 codes; of a translator its pair. */
  readonly languages: ReadonlyArray<string>
  readonly folder: string | null
  readonly source: string | null
  readonly precision: string | null
}

const knownOf = async (folder: string | null): Promise<Pick<Row, 'folder' | 'source' | 'precision' | 'measured'>> => {
  const manifest = folder === null ? null : await readManifest(folder)
  return { folder, source: manifest?.source ?? null, precision: manifest?.precision ?? null, measured: manifest?.vram !== undefined }
}

const rowsOf = async (control: Control): Promise<ReadonlyArray<Row>> => {
  const [{ models, pairs }, installed] = [await listedModels(control), await findInstalled()]
  const speech = models.map(async ({ name, active, vram }): Promise<Row> => {
    const found = installed.models.find((model) => model.name === name)
    const { languages } = found?.abilities ?? NO_ABILITIES
    return { name, kind: 'speech', active, vram, languages, ...(await knownOf(found?.folder ?? null)) }
  })
  const translation = pairs.map(async ({ model, active, vram, lang_from, lang_to }): Promise<Row> => {
    const found = installed.translators.find(({ name }) => name === model)
    const languages = [lang_from.iso_639_1, lang_to.iso_639_1]
    return { name: model, kind: 'translation', active, vram, languages, ...(await knownOf(found?.folder ?? null)) }
  })
  return Promise.all([...speech, ...translation])
}

const MANY = 4

const languagesIn = ({ kind, languages }: Row): string =>
  kind === 'translation' ? languages.join(' > ') : languages.length > MANY ? `${languages.length} languages` : languages.join(' ')

export const listModels = async (json: boolean): Promise<number> => {
  const found = await withControl(rowsOf)
  const cells = found.map((row) => [
    row.name, row.kind, row.active ? 'yes' : 'no', `${row.measured ? '' : '~'}${row.vram}`, languagesIn(row), row.precision ?? '', row.source ?? '', row.folder ?? '-',
  ])
  console.log(json ? JSON.stringify(found) : tableOf(['name', 'kind', 'active', 'MB', 'languages', 'precision', 'source', 'folder'], cells))
  const more = PULLED_BY_NAME.filter((name) => found.every((row) => row.name !== name || row.folder === null))
  if (!json && more.length > 0) console.error(`hint: To install one more: npm run stenolog -- models pull NAME (${more.join(', ')})`)
  return 0
}

/** New lives may use it, or may not. A translator's name stands for all its pairs. */
export const switchModels = async (name: string, active: boolean, json: boolean): Promise<number> => {
  const changed = await withControl(async (control) => {
    const { models, pairs } = await listedModels(control)
    const body = { is_active: active }
    const done: Array<ModelRow | PairRow> = []
    for (const { id } of models.filter((row) => row.name === name)) done.push(await control.ask('PUT', `/admin/models/${id}`, rows.model, body))
    for (const { id } of pairs.filter((row) => row.model === name)) done.push(await control.ask('PUT', `/admin/translations/${id}`, rows.pair, body))
    return done
  })
  if (changed.length === 0) throw notInstalled(name, [])
  console.log(json ? JSON.stringify(changed) : changed.map((row) => `${name} is ${row.active ? 'active' : 'inactive'}`).join('\n'))
  if (active && changed.every((row) => !row.active)) console.error(`warning: ${name} stays inactive: it is not installed, or another translator of its pair is preferred`)
  return 0
}
