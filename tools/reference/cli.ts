import { helpOf } from '../../interfaces/cli/commands/help.ts'
import { COMMANDS } from '../../interfaces/cli/commands/table.ts'
import { page, table } from './markdown.ts'

export const cliPage = (): string =>
  page(
    'Command line',
    'Run a command as `npm run stenolog -- COMMAND`, in a container as `docker compose exec stenolog node interfaces/cli/main.ts COMMAND`. '
      + 'Commands read the same `STENOLOG_*` [settings](settings.md) as the service; at least DATA_DIR has to be the same. '
      + 'The exit code is 0 when all is well, 1 when something failed, 2 for wrong arguments.',
    table(['Command', 'Does'], COMMANDS.map(({ name, purpose }) => [`[${name}](#${name})`, purpose])),
    ...COMMANDS.map((command) => `## ${command.name}\n\n\`\`\`text\n${helpOf(command).trimEnd()}\n\`\`\``),
  )
