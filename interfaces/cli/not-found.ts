import { didYouMean } from '../../domain/shared/nearest-name.ts'
import { CommandError, quoted } from '../command-error.ts'

/** Returns the error for an unknown user. `names`: the existing users, for a suggestion. */
export const unknownUser = (name: string, names: ReadonlyArray<string> = []): CommandError =>
  new CommandError(`There is no user ${quoted(name)}.${didYouMean(name, names)}`, {
    hint: 'npm run stenolog -- users list',
  })

/** Returns the error for an unknown API token. Tokens are listed by user, so the hint needs a user name. */
export const unknownToken = (id: number): CommandError =>
  new CommandError(`There is no token ${id}.`, { hint: 'npm run stenolog -- tokens list USER' })

export const unknownLive = (liveId: number): CommandError =>
  new CommandError(`There is no session ${liveId}.`, { hint: 'npm run stenolog -- lives list' })
