import type { Command } from './command.ts'

const WIDTH = 80
/** Where the second column begins at the latest. */
const COLUMN = 26

const PREFIX = 'npm run stenolog --'

const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(/ +/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

const columns = (rows: ReadonlyArray<readonly [name: string, meaning: string]>): ReadonlyArray<string> => {
  const column = Math.min(COLUMN, 4 + Math.max(...rows.map(([name]) => name.length)))
  return rows.flatMap(([name, meaning]) => {
    const [first = '', ...more] = wrapped(meaning, WIDTH - column)
    const rest = more.map((line) => ' '.repeat(column) + line)
    const left = `  ${name}`
    return left.length + 2 <= column ? [left.padEnd(column) + first, ...rest] : [left, ' '.repeat(column) + first, ...rest]
  })
}

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> => (lines.length === 0 ? [] : ['', title, ...lines])

const written = (name: string, { value, several }: Command['options'][string]): string =>
  `--${name}${value === undefined ? '' : ` ${value}`}${several === true ? '...' : ''}`

const usageOf = (command: Command): ReadonlyArray<string> =>
  command.forms.flatMap((form) => {
    const { name } = command
    const { options, words } = form
    const start = `  stenolog ${[name, words].join(' ').trimEnd()}`
    const shown = options.map((option) => `[${written(option, command.options[option] ?? { meaning: '' })}]`.replaceAll(' ', '\u00A0'))
    const indent = 6
    const [first = '', ...more] = wrapped([start.trimStart().replaceAll(' ', '\u00A0'), ...shown].join(' '), WIDTH - indent)
    return [`  ${first}`, ...more.map((line) => ' '.repeat(indent) + line)].map((line) => line.replaceAll('\u00A0', ' '))
  })

/** What `stenolog COMMAND --help` prints, at most 80 columns wide. */
export const helpOf = (command: Command): string => {
  const { name, purpose, about, arguments: operands, options, examples, page } = command
  const optionRows = Object.entries(options).map(([option, its]) => {
    const oneOf = its.oneOf === undefined ? '' : ` (${its.oneOf.join(', ')})`
    const fallback = its.fallback === undefined ? '' : `; default ${its.fallback}`
    return [written(option, its), `${its.meaning}${oneOf}${fallback}`] as const
  })
  return [
    ...wrapped(`stenolog ${name}: ${purpose}.`, WIDTH),
    ...about.flatMap((paragraph) => ['', ...wrapped(paragraph, WIDTH)]),
    ...section('Usage', usageOf(command)),
    ...section('Arguments', columns(Object.entries(operands).map(([operand, { meaning }]) => [operand, meaning]))),
    ...section('Options', columns([...optionRows, ['--help', 'this page']])),
    ...section('Examples', examples.map((example) => `  ${PREFIX} ${example}`)),
    '',
    `More: ${page}`,
  ].join('\n')
}

/** What `stenolog --help` prints. */
export const helpOfAll = (commands: ReadonlyArray<Command>): string =>
  [
    'Stenolog: live transcription that you host yourself.',
    ...section('Usage', [`  ${PREFIX} COMMAND [ARGUMENTS] [OPTIONS]`, `  ${PREFIX} COMMAND --help`]),
    ...section('Commands', columns(commands.map(({ name, purpose }) => [name, purpose]))),
    ...section('Examples', [`  ${PREFIX} transcribe talk.mp3`, `  ${PREFIX} users create ada`]),
    '',
    'Settings are environment variables STENOLOG_*. Exit codes: 0 done, 1 failed,',
    '2 wrong arguments.',
    'More: docs/README.md',
  ].join('\n')
