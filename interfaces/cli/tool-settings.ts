import * as E from 'fp-ts/lib/Either.js'
import { CommandError, SETTINGS_HINT } from '../command-error.ts'
import { readSettings, type Settings } from '../../infrastructure/settings/settings.ts'

/** Reads the settings from the environment. Throws a CommandError that lists all errors of the settings. */
export const toolSettings = (): Settings => {
  const settings = readSettings(process.env)
  if (E.isRight(settings)) return settings.right
  throw new CommandError(settings.left.join('\n'), { hint: SETTINGS_HINT })
}
