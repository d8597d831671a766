import { didYouMean } from '../../domain/shared/nearest-name.ts'
import { CommandError, quoted } from '../command-error.ts'

/** Of a name that none of the users has. */
export const unknownUser = (name: string, names: ReadonlyArray<string> = []): CommandError =>
  new CommandError(`There is no user ${quoted(name)}.${didYouMean(name, names)}`, { hint: 'npm run stenolog -- users list' })

/** Of an id that no live has. */
export const unknownLive = (liveId: number): CommandError =>
  new CommandError(`There is no session ${liveId}.`, { hint: 'npm run stenolog -- lives list' })
