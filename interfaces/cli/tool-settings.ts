import * as E from 'fp-ts/lib/Either.js'
import { CommandError, SETTINGS_HINT } from '../command-error.ts'
import { readSettings } from '../../infrastructure/settings.ts'
import type { Settings } from '../../infrastructure/settings.ts'

/** The service's settings as this process sees them; throws an Error that lists everything wrong with them. */
export const toolSettings = (): Settings => {
  const settings = readSettings(process.env)
  if (E.isRight(settings)) return settings.right
  throw new CommandError(settings.left.join('\n'), { hint: SETTINGS_HINT })
}
