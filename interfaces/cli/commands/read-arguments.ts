import { parseArgs } from 'node:util'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { misused, quoted } from '../../command-error.ts'
import { partsOf } from './command.ts'
import type { Command, Values } from './command.ts'

/** What a command line asks of a command. */
export interface Asked<C extends Command> {
  /** The word of its form, empty for none. */
  readonly action: string
  readonly operands: ReadonlyArray<string>
  readonly options: Values<C>
}

const helpFor = ({ name }: Command): string => `npm run stenolog -- ${name} --help`

type Given = ReadonlyMap<string, ReadonlyArray<string>>

/** Throws for an option that the command does not have, or that has a value against its kind. */
const optionsIn = (command: Command, args: ReadonlyArray<string>) => {
  const types = Object.entries(command.options).map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const)
  const { tokens, positionals } = parseArgs({ args: [...args], options: Object.fromEntries(types), strict: false, allowPositionals: true, tokens: true })
  const given = new Map<string, ReadonlyArray<string>>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(command.options, name) ? command.options[name] : undefined
    if (option === undefined) {
      const meant = didYouMean(name, Object.keys(command.options), (known) => `--${known}`)
      throw misused(`Unknown option ${rawName} of stenolog ${command.name}.${meant}`, helpFor(command))
    }
    if (option.value === undefined && value !== undefined) throw misused(`--${name} takes no value.`, helpFor(command))
    const isMissing = value === undefined || (!inlineValue && /^-./.test(value))
    if (option.value !== undefined && isMissing)
      throw misused(`--${name} needs a value: --${name} ${option.value}.`, helpFor(command))
    given.set(name, [...(given.get(name) ?? []), value ?? ''])
  }
  return { given, positionals }
}

const checkOptions = (command: Command, given: Given): void => {
  for (const [name, values] of given) {
    const { several, oneOf, fits } = command.options[name] ?? {}
    if (values.length > 1 && several !== true && command.options[name]?.value !== undefined) throw misused(`--${name} is given twice.`, helpFor(command))
    for (const value of values) {
      if (oneOf !== undefined && !oneOf.includes(value))
        throw misused(`--${name} should be one of ${oneOf.join(', ')}, not ${quoted(value)}.${didYouMean(value, oneOf)}`, helpFor(command))
      if (fits !== undefined && !fits.test(value)) throw misused(`--${name} should be ${fits.says}, not ${quoted(value)}.`, helpFor(command))
    }
  }
}

/** The form that the words ask for, and what follows its action. */
const formFor = (command: Command, positionals: ReadonlyArray<string>) => {
  const forms = command.forms.map((form) => ({ form, ...partsOf(form) }))
  const [plain] = forms.filter(({ action }) => action === '')
  if (plain !== undefined) return { found: plain, operands: positionals }
  const [action, ...operands] = positionals
  const found = forms.find((form) => form.action === action)
  if (found !== undefined) return { found, operands }
  const actions = forms.map((form) => form.action)
  if (action === undefined) throw misused(`stenolog ${command.name} needs one of ${actions.join(', ')}.`, helpFor(command))
  const meant = didYouMean(action, actions, (name) => `stenolog ${command.name} ${name}`)
  throw misused(`Unknown command ${quoted(`${command.name} ${action}`)}.${meant}`, helpFor(command))
}

const checkOperands = (command: Command, { found, operands }: ReturnType<typeof formFor>): void => {
  const called = `stenolog ${[command.name, found.action].join(' ').trimEnd()}`
  const { arguments: wanted } = found
  const missing = wanted.find(({ isOptional }, index) => !isOptional && operands[index] === undefined)
  if (missing !== undefined) throw misused(`${called} needs ${missing.name}: ${command.arguments[missing.name]?.meaning ?? ''}.`, helpFor(command))
  const [surplus] = wanted.at(-1)?.isSeveral === true ? [] : operands.slice(wanted.length)
  if (surplus !== undefined) throw misused(`${called} does not know what to do with ${quoted(surplus)}.`, helpFor(command))
  for (const [index, operand] of operands.entries()) {
    const name = wanted[Math.min(index, wanted.length - 1)]?.name ?? ''
    const { fits } = command.arguments[name] ?? {}
    if (fits !== undefined && !fits.test(operand)) throw misused(`${name} should be ${fits.says}, not ${quoted(operand)}.`, helpFor(command))
  }
}

const valueOf = ({ value, several, fallback }: Command['options'][string], given: ReadonlyArray<string> | undefined): unknown => {
  if (value === undefined) return given !== undefined
  if (several === true) return given ?? []
  return given?.at(-1) ?? fallback
}

/** What the arguments ask for, by the command's table; throws a CommandError with a hint for whatever is not in it. */
export const readArguments = <C extends Command>(command: C, args: ReadonlyArray<string>): Asked<C> => {
  const { given, positionals } = optionsIn(command, args)
  const asked = formFor(command, positionals)
  checkOperands(command, asked)
  for (const name of given.keys())
    if (!asked.found.form.options.includes(name))
      throw misused(`--${name} does not go with stenolog ${command.name} ${asked.found.action}.`, helpFor(command))
  checkOptions(command, given)
  const options = Object.entries(command.options).map(([name, option]) => [name, valueOf(option, given.get(name))])
  // By its table each option has the value that its type says.
  return { action: asked.found.action, operands: asked.operands, options: Object.fromEntries(options) as Values<C> }
}
