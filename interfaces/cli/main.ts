/** The command line, `npm run stenolog -- COMMAND`. Commands load on demand, so `serve` loads no audio decoder. */
import { didYouMean } from '../../domain/shared/nearest-name.ts'
import { CommandError, errorLines, usageError, quoted } from '../command-error.ts'
import '../hang-up.ts'
import '../umask.ts'
import { helpOf, helpOfAll } from './commands/help.ts'
import { readArguments } from './commands/read-arguments.ts'
import { SERVE } from './commands/streaming.ts'
import { COMMANDS } from './commands/table.ts'

/** Resolves to the exit code, or to null when the command keeps running. */
type Run = (args: ReadonlyArray<string>) => Promise<number | null>

const RUNS: Readonly<Record<string, Run>> = {
  serve: async (args) => {
    readArguments(SERVE, args)
    await import('../main.ts')
    return null
  },
  users: async (args) => (await import('./administration/users.ts')).users(args),
  lives: async (args) => (await import('./administration/lives.ts')).lives(args),
  tokens: async (args) => (await import('./administration/tokens.ts')).tokens(args),
  models: async (args) => (await import('./models/models.ts')).models(args),
  doctor: async (args) => (await import('./doctor/doctor.ts')).doctor(args),
  demo: async (args) => (await import('./streaming/demo.ts')).demo(args),
  transcribe: async (args) => (await import('./streaming/transcribe.ts')).transcribe(args),
  replay: async (args) => (await import('./stores/replay.ts')).replay(args),
  export: async (args) => (await import('./stores/export.ts')).exportLive(args),
  check: async (args) => (await import('./stores/check.ts')).check(args),
  rebuild: async (args) => (await import('./stores/rebuild.ts')).rebuild(args),
  backup: async (args) => (await import('./stores/backup.ts')).backup(args),
  restore: async (args) => (await import('./stores/restore.ts')).restore(args),
  log: async (args) => (await import('./stores/log.ts')).log(args),
}

const main = async ([first, ...others]: ReadonlyArray<string>): Promise<number | null> => {
  const [name, ...args] = first === 'help' && others.length > 0 ? [...others, '--help'] : [first, ...others]
  if (name === '--help' || name === '-h' || name === 'help') {
    console.log(helpOfAll(COMMANDS))
    return 0
  }
  if (name === undefined) {
    console.error(helpOfAll(COMMANDS))
    return 2
  }
  const command = COMMANDS.find((candidate) => candidate.name === name)
  const run = Object.hasOwn(RUNS, name) ? RUNS[name] : undefined
  if (command === undefined || run === undefined) {
    const meant = didYouMean(name, COMMANDS.map((known) => known.name))
    throw usageError(`Unknown command ${quoted(name)}.${meant}`, 'List all commands: npm run stenolog -- --help')
  }
  if (args.includes('--help') || args.includes('-h')) {
    console.log(helpOf(command))
    return 0
  }
  return run(args)
}

try {
  const code = await main(process.argv.slice(2))
  if (code !== null) process.exitCode = code
} catch (error) {
  console.error(errorLines(error))
  process.exitCode = error instanceof CommandError ? error.exitCode : 1
}
