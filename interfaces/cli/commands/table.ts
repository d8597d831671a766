import { LIVES, TOKENS, USERS } from './accounts.ts'
import type { Command } from './command.ts'
import { BACKUP, CHECK, EXPORT, LOG, REBUILD, REPLAY, RESTORE } from './stores.ts'
import { DEMO, DOCTOR, MODELS, SERVE, TRANSCRIBE } from './streaming.ts'

/** All commands, in the order of the help. */
export const COMMANDS: ReadonlyArray<Command> = [
  SERVE, DEMO, TRANSCRIBE, DOCTOR, USERS, LIVES, TOKENS, MODELS, CHECK, REPLAY, EXPORT, REBUILD, BACKUP, RESTORE, LOG,
]
