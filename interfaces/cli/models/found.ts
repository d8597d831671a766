import { join } from 'node:path'
import * as t from 'io-ts'
import type { Logger } from '../../../application/ports/environment.ts'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { object } from '../../../domain/shared/codecs.ts'
import { BUNDLED_MODELS, findInstalledModels } from '../../../infrastructure/catalogue/installed-models.ts'
import { modelNameOf, PULLED_BY_NAME, repositoriesOf } from '../../../infrastructure/catalogue/models.ts'
import { modelsDirOf } from '../../../infrastructure/settings.ts'
import { allOf } from '../control-client.ts'
import type { Control } from '../control-client.ts'
import { CommandError, misused, quoted } from '../../command-error.ts'
import { toolSettings } from '../tool-settings.ts'

/** Folders that are no models are named on standard error. */
const warnings: Logger = {
  info: () => undefined,
  warn: ({ folder, reason }, message) => console.error(`warning: ${String(folder)}: ${typeof reason === 'string' ? reason : message}`),
  error: ({ directory, reason }, message) => console.error(`warning: ${message}: ${String(directory)} (${String(reason)})`),
}

/** The models directory of the settings. */
export const modelsDirectory = (): string => modelsDirOf(toolSettings())

export const findInstalled = () =>
  findInstalledModels({
    bundledDir: BUNDLED_MODELS,
    modelsDir: modelsDirectory(),
    mayBeMissing: toolSettings().modelsDir === null,
    logger: warnings,
  })

/** Throws an Error for people where a folder of a model cannot have this name. */
export const checkedName = (name: string): string => {
  if (!/^[A-Za-z0-9][\w.-]{0,95}$/.test(name)) throw misused(`${quoted(name)} cannot be the name of a model: use letters, digits, ".", "_" and "-".`)
  return name
}

/** Of a name that no installed model has: how to install or find it. */
export const notInstalled = (name: string, installed: ReadonlyArray<string>): CommandError => {
  const isPulled = repositoriesOf(name).length > 0
  return new CommandError(
    `Model ${quoted(name)} is not installed.${isPulled ? '' : didYouMean(name, [...installed, ...PULLED_BY_NAME])}`,
    { hint: isPulled ? `Run: npm run stenolog -- models pull ${name}` : 'npm run stenolog -- models list' },
  )
}

/** Folders by the names asked for, those that are no models (any more) too; of no names all that are installed. */
export const foldersOf = async (names: ReadonlyArray<string>): Promise<ReadonlyArray<{ readonly name: string; readonly folder: string }>> => {
  const { models, translators } = await findInstalled()
  const installed = [...models, ...translators].map(({ name, folder }) => ({ name, folder }))
  if (names.length === 0) return installed
  const directory = modelsDirectory()
  return names.map((given) => {
    const name = modelNameOf(checkedName(given))
    const found = installed.find((one) => one.name === name)
    return found ?? { name, folder: join(directory, given) }
  })
}

const modelRow = object({ id: t.number, name: t.string, active: t.boolean, vram: t.number })
const pairRow = object({
  id: t.number, model: t.string, active: t.boolean, vram: t.number,
  lang_from: object({ iso_639_1: t.string }), lang_to: object({ iso_639_1: t.string }),
})
export type ModelRow = t.TypeOf<typeof modelRow>
export type PairRow = t.TypeOf<typeof pairRow>
export const rows = { model: modelRow, pair: pairRow }

/** What the service lists. */
export const listedModels = async (control: Control): Promise<{ readonly models: ReadonlyArray<ModelRow>; readonly pairs: ReadonlyArray<PairRow> }> => ({
  models: await allOf(control, '/models/', modelRow),
  pairs: await allOf(control, '/translations/', pairRow),
})

/** Has the service look again at what is installed; where it runs no models, workers look by themselves. */
export const rescan = async (control: Control): Promise<void> => {
  if (control.runsModels) await control.ask('POST', '/admin/rescan', t.UnknownArray)
}
