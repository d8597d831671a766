/** `npm run stenolog -- COMMAND`: the command line. Commands load on demand, so that `serve` loads no audio decoder. */

interface Command {
  readonly name: string
  readonly summary: string
  /** Resolves to the exit code, or to null when the command goes on running. */
  readonly run: (args: ReadonlyArray<string>) => Promise<number | null>
  readonly help: () => Promise<string>
}

const COMMANDS: ReadonlyArray<Command> = [
  {
    name: 'serve',
    summary: 'run the service (settings: environment variables STENOLOG_*)',
    run: async () => {
      await import('../main.ts')
      return null
    },
    help: async () => 'stenolog serve\n\nRuns the service, as `npm start` does. README.md lists the settings.',
  },
  {
    name: 'users',
    summary: 'list, create, change, export and delete users',
    run: async (args) => (await import('./administration/users.ts')).users(args),
    help: async () => (await import('./administration/users.ts')).USERS_HELP,
  },
  {
    name: 'lives',
    summary: 'list and finish the lives of all users',
    run: async (args) => (await import('./administration/lives.ts')).lives(args),
    help: async () => (await import('./administration/lives.ts')).LIVES_HELP,
  },
  {
    name: 'tokens',
    summary: 'list, create, rename, switch and revoke API tokens of users',
    run: async (args) => (await import('./administration/tokens.ts')).tokens(args),
    help: async () => (await import('./administration/tokens.ts')).TOKENS_HELP,
  },
  {
    name: 'models',
    summary: 'list, switch, fetch, check and remove models',
    run: async (args) => (await import('./models/models.ts')).models(args),
    help: async () => (await import('./models/models.ts')).MODELS_HELP,
  },
  {
    name: 'doctor',
    summary: 'say what is wrong with the environment, or with the URL of a source',
    run: async (args) => (await import('./doctor/doctor.ts')).doctor(args),
    help: async () => (await import('./doctor/doctor.ts')).DOCTOR_HELP,
  },
  {
    name: 'demo',
    summary: 'stream the bundled sample through a throw-away instance',
    run: async (args) => (await import('./streaming/demo.ts')).demo(args),
    help: async () => (await import('./streaming/demo.ts')).DEMO_HELP,
  },
  {
    name: 'transcribe',
    summary: 'stream audio files through a throw-away instance',
    run: async (args) => (await import('./streaming/transcribe.ts')).transcribe(args),
    help: async () => (await import('./streaming/transcribe.ts')).TRANSCRIBE_HELP,
  },
  {
    name: 'replay',
    summary: "a live's history, and what it was at any revision",
    run: async (args) => (await import('./stores/replay.ts')).replay(args),
    help: async () => (await import('./stores/replay.ts')).REPLAY_HELP,
  },
  {
    name: 'export',
    summary: 'everything that is kept of a live, in clear, as JSON',
    run: async (args) => (await import('./stores/export.ts')).exportLive(args),
    help: async () => (await import('./stores/export.ts')).EXPORT_HELP,
  },
  {
    name: 'check',
    summary: 'distrust the stored data: hash chain, rules, keys, read models',
    run: async (args) => (await import('./stores/check.ts')).check(args),
    help: async () => (await import('./stores/check.ts')).CHECK_HELP,
  },
  {
    name: 'rebuild',
    summary: 'make read models anew from the log, while the service serves',
    run: async (args) => (await import('./stores/rebuild.ts')).rebuild(args),
    help: async () => (await import('./stores/rebuild.ts')).REBUILD_HELP,
  },
  {
    name: 'backup',
    summary: 'copy the embedded stores, while the service serves',
    run: async (args) => (await import('./stores/backup.ts')).backup(args),
    help: async () => (await import('./stores/backup.ts')).BACKUP_HELP,
  },
  {
    name: 'restore',
    summary: 'put a backup in place',
    run: async (args) => (await import('./stores/restore.ts')).restore(args),
    help: async () => (await import('./stores/restore.ts')).RESTORE_HELP,
  },
  {
    name: 'log',
    summary: 'give a log in EventStoreDB to this data directory',
    run: async (args) => (await import('./stores/log.ts')).log(args),
    help: async () => (await import('./stores/log.ts')).LOG_HELP,
  },
]

const usage = (): string =>
  ['usage: npm run stenolog -- COMMAND [--help]', '', ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`)].join('\n')

const main = async ([name, ...args]: ReadonlyArray<string>): Promise<number | null> => {
  const command = COMMANDS.find((candidate) => candidate.name === name)
  if (command === undefined) {
    const asked = name === '--help' || name === 'help'
    ;(asked ? console.log : console.error)(usage())
    return asked ? 0 : 2
  }
  if (args.includes('--help')) {
    console.log(await command.help())
    return 0
  }
  return command.run(args)
}

try {
  const code = await main(process.argv.slice(2))
  if (code !== null) process.exitCode = code
} catch (error) {
  console.error(`stenolog: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
