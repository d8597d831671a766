import { join } from 'node:path'
import * as t from 'io-ts'
import type { Logger } from '../../../application/ports/environment.ts'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { object } from '../../../domain/shared/codecs.ts'
import { BUNDLED_MODELS, findInstalledModels } from '../../../infrastructure/catalogue/installed-models.ts'
import { modelNameOf, PULLED_BY_NAME, repositoriesOf } from '../../../infrastructure/catalogue/models.ts'
import { modelsDirOf } from '../../../infrastructure/settings/settings.ts'
import { type Control, fetchAll } from '../control-client.ts'
import { CommandError, usageError, quoted } from '../../command-error.ts'
import { toolSettings } from '../tool-settings.ts'

/** Prints a warning on standard error for each folder that holds no usable model. */
const warnings: Logger = {
  info: () => undefined,
  warn: ({ folder, reason }, message) =>
    console.error(`warning: ${String(folder)}: ${typeof reason === 'string' ? reason : message}`),
  error: ({ directory, reason }, message) =>
    console.error(`warning: ${message}: ${String(directory)} (${String(reason)})`),
}

export const modelsDirectory = (): string => modelsDirOf(toolSettings())

export const findInstalled = () =>
  findInstalledModels({
    bundledDir: BUNDLED_MODELS,
    modelsDir: modelsDirectory(),
    mayBeMissing: toolSettings().modelsDir === null,
    logger: warnings,
  })

/** Returns the name. Throws a CommandError when it cannot be the name of a model folder. */
export const requireValidName = (name: string): string => {
  if (!/^[A-Za-z0-9][\w.-]{0,95}$/.test(name))
    throw usageError(`${quoted(name)} is not a valid model name. Use letters, digits, ".", "_" and "-".`)
  return name
}

/** Returns the error for a model that is not installed. Its hint says how to install or find the model. */
export const notInstalled = (name: string, installed: ReadonlyArray<string>): CommandError => {
  const isPulled = repositoriesOf(name).length > 0
  return new CommandError(
    `Model ${quoted(name)} is not installed.${isPulled ? '' : didYouMean(name, [...installed, ...PULLED_BY_NAME])}`,
    { hint: isPulled ? `Run: npm run stenolog -- models pull ${name}` : 'npm run stenolog -- models list' },
  )
}

interface NamedFolder {
  readonly name: string
  readonly folder: string
}

/** Returns the folder of each name, even when it holds no usable model. Without names: all installed models. */
export const foldersOf = async (names: ReadonlyArray<string>): Promise<ReadonlyArray<NamedFolder>> => {
  const { models, translators } = await findInstalled()
  const installed = [...models, ...translators].map(({ name, folder }) => ({ name, folder }))
  if (names.length === 0) return installed
  const directory = modelsDirectory()
  return names.map((given) => {
    const name = modelNameOf(requireValidName(given))
    const found = installed.find((model) => model.name === name)
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

interface ListedModels {
  readonly models: ReadonlyArray<ModelRow>
  readonly pairs: ReadonlyArray<PairRow>
}

/** Fetches the speech models and the translation pairs that the service lists. */
export const listedModels = async (control: Control): Promise<ListedModels> => ({
  models: await fetchAll(control, '/models/', modelRow),
  pairs: await fetchAll(control, '/translations/', pairRow),
})

/**
 * Lets the service search for installed models again. A service without models needs no call: its workers notice
 * changes.
 */
export const rescan = async (control: Control): Promise<void> => {
  if (control.runsModels) await control.request('POST', '/admin/rescan', t.UnknownArray)
}
