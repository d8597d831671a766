import type { Command } from './command.ts'

const WIDTH = 80
/** Maximum width of the first column. A longer name gets its own line. */
const MAX_NAME_WIDTH = 26

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
  const column = Math.min(MAX_NAME_WIDTH, 4 + Math.max(...rows.map(([name]) => name.length)))
  return rows.flatMap(([name, meaning]) => {
    const [first = '', ...more] = wrapped(meaning, WIDTH - column)
    const rest = more.map((line) => ' '.repeat(column) + line)
    const firstColumn = `  ${name}`
    return firstColumn.length + 2 <= column
      ? [firstColumn.padEnd(column) + first, ...rest]
      : [firstColumn, ' '.repeat(column) + first, ...rest]
  })
}

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : ['', title, ...lines]

const optionSyntax = (name: string, { value, isRepeatable }: Command['options'][string]): string =>
  `--${name}${value === undefined ? '' : ` ${value}`}${isRepeatable === true ? '...' : ''}`

/** Stands for a space inside an option, so that wrapping keeps the option on one line. */
const NO_BREAK_SPACE = '\u00A0'

const usageOf = (command: Command): ReadonlyArray<string> =>
  command.forms.flatMap((form) => {
    const call = `stenolog ${[command.name, form.words].join(' ').trimEnd()}`
    const options = form.options.map((name) => `[${optionSyntax(name, command.options[name] ?? { meaning: '' })}]`)
    const parts = [call, ...options].map((part) => part.replaceAll(' ', NO_BREAK_SPACE))
    const indent = 6
    const [first = '', ...more] = wrapped(parts.join(' '), WIDTH - indent)
    const lines = [`  ${first}`, ...more.map((line) => ' '.repeat(indent) + line)]
    return lines.map((line) => line.replaceAll(NO_BREAK_SPACE, ' '))
  })

/** Returns the text of `stenolog COMMAND --help`, at most 80 columns wide. */
export const helpOf = (command: Command): string => {
  const { name, purpose, about, arguments: operands, options, examples, page } = command
  const optionRows = Object.entries(options).map(([optionName, option]) => {
    const oneOf = option.oneOf === undefined ? '' : `one of ${option.oneOf.join(', ')}; `
    const fallback = option.fallback === undefined ? '' : `; default ${option.fallback}`
    return [optionSyntax(optionName, option), `${oneOf}${option.meaning}${fallback}`] as const
  })
  return [
    ...wrapped(`stenolog ${name}: ${purpose}.`, WIDTH),
    ...about.flatMap((paragraph) => ['', ...wrapped(paragraph, WIDTH)]),
    ...section('Usage', [...usageOf(command), '', `  Here stenolog stands for: ${PREFIX}`]),
    ...section('Arguments', columns(Object.entries(operands).map(([operand, { meaning }]) => [operand, meaning]))),
    ...section('Options', columns([...optionRows, ['--help', 'shows this help']])),
    ...section('Examples', examples.map((example) => `  ${PREFIX} ${example}`)),
    '',
    `More: ${page}`,
  ].join('\n')
}

/** Returns the text of `stenolog --help`. */
export const helpOfAll = (commands: ReadonlyArray<Command>): string =>
  [
    'Stenolog: self-hosted live transcription.',
    ...section('Usage', [`  ${PREFIX} COMMAND [ARGUMENTS] [OPTIONS]`, `  ${PREFIX} COMMAND --help`]),
    ...section('Commands', columns(commands.map(({ name, purpose }) => [name, purpose]))),
    ...section('Examples', [`  ${PREFIX} transcribe talk.mp3`, `  ${PREFIX} users create ada`]),
    '',
    'The environment variables STENOLOG_* hold the settings.',
    'Exit codes: 0 success, 1 failure, 2 wrong arguments.',
    'More: docs/README.md',
  ].join('\n')
