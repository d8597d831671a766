import { helpOf } from '../../interfaces/cli/commands/help.ts'
import { COMMANDS } from '../../interfaces/cli/commands/table.ts'
import { page, table } from './markdown.ts'

export const cliPage = (): string =>
  page(
    'Command line',
    'Run a command with `npm run stenolog -- COMMAND`. In a container, use '
      + '`docker compose exec stenolog node interfaces/cli/main.ts COMMAND`. Commands read the same `STENOLOG_*` '
      + '[settings](settings.md) as the service. At a minimum, set DATA_DIR to the folder that the service '
      + 'uses. The exit code is 0 after success, 1 after a failure, and 2 for wrong arguments.',
    table(['Command', 'Purpose'], COMMANDS.map(({ name, purpose }) => [`[${name}](#${name})`, purpose])),
    ...COMMANDS.map((command) => `## ${command.name}\n\n\`\`\`text\n${helpOf(command).trimEnd()}\n\`\`\``),
  )
