import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { page, table } from './markdown.ts'

const MAIN = fileURLToPath(new URL('../../interfaces/cli/main.ts', import.meta.url))

const help = async (...args: ReadonlyArray<string>): Promise<string> =>
  (await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args, '--help'])).stdout.trimEnd()

/** The commands as the command line itself lists them. */
const commandsOf = (usage: string): ReadonlyArray<readonly [name: string, summary: string]> =>
  [...usage.matchAll(/^ {2}([a-z]+) {2,}(\S.*)$/gm)].map(([, name = '', summary = '']) => [name, summary] as const)

export const cliPage = async (): Promise<string> => {
  const commands = commandsOf(await help())
  const helps = await Promise.all(commands.map(([name]) => help(name)))
  return page(
    'Command line',
    'Run a command as `npm run stenolog -- COMMAND`, in a container as `docker compose exec stenolog node interfaces/cli/main.ts COMMAND`. '
      + 'Commands read the same `STENOLOG_*` [settings](settings.md) as the service; at least DATA_DIR has to be the same. '
      + 'The exit code is 0 when all is well, 1 when something failed, 2 for wrong arguments.',
    table(['Command', 'Does'], commands.map(([name, summary]) => [`[${name}](#${name})`, summary])),
    ...commands.map(([name], index) => `## ${name}\n\n\`\`\`text\n${helps[index] ?? ''}\n\`\`\``),
  )
}
