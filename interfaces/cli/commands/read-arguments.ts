import { parseArgs } from 'node:util'
import { didYouMean } from '../../../domain/shared/nearest-name.ts'
import { usageError, quoted } from '../../command-error.ts'
import { type Command, partsOf, type Values } from './command.ts'

export interface ParsedArguments<C extends Command> {
  /** The action, such as `create`; empty when the command has no actions. */
  readonly action: string
  readonly operands: ReadonlyArray<string>
  readonly options: Values<C>
}

const helpFor = ({ name }: Command): string => `npm run stenolog -- ${name} --help`

type Given = ReadonlyMap<string, ReadonlyArray<string>>

/** Throws for an unknown option, for a missing value, and for a value after a flag. */
const optionsIn = (command: Command, args: ReadonlyArray<string>) => {
  const types = Object.entries(command.options)
    .map(([name, { value }]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const)
  const { tokens, positionals } = parseArgs({
    args: [...args], options: Object.fromEntries(types), strict: false, allowPositionals: true, tokens: true,
  })
  const given = new Map<string, ReadonlyArray<string>>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const option = Object.hasOwn(command.options, name) ? command.options[name] : undefined
    if (option === undefined) {
      const meant = didYouMean(name, Object.keys(command.options), (known) => `--${known}`)
      throw usageError(`Unknown option ${rawName} of stenolog ${command.name}.${meant}`, helpFor(command))
    }
    if (option.value === undefined && value !== undefined)
      throw usageError(`--${name} takes no value.`, helpFor(command))
    // A negative number is a wrong value, and the rule of the option says so.
    const isMissing = value === undefined || (!inlineValue && /^-[^\d]/.test(value))
    if (option.value !== undefined && isMissing)
      throw usageError(`--${name} needs a value: --${name} ${option.value}.`, helpFor(command))
    given.set(name, [...(given.get(name) ?? []), value ?? ''])
  }
  return { given, positionals }
}

const checkOptions = (command: Command, given: Given): void => {
  for (const [name, values] of given) {
    const { isRepeatable, oneOf, rule } = command.options[name] ?? {}
    if (values.length > 1 && isRepeatable !== true && command.options[name]?.value !== undefined)
      throw usageError(`--${name} is given twice.`, helpFor(command))
    for (const value of values) {
      if (oneOf !== undefined && !oneOf.includes(value))
        throw usageError(
          `--${name} should be one of ${oneOf.join(', ')}, not ${quoted(value)}.${didYouMean(value, oneOf)}`,
          helpFor(command),
        )
      if (rule !== undefined && !rule.test(value))
        throw usageError(`--${name} should be ${rule.expected}, not ${quoted(value)}.`, helpFor(command))
    }
  }
}

/** Finds the form of the command line, and the arguments after its action. */
const formFor = (command: Command, positionals: ReadonlyArray<string>) => {
  const forms = command.forms.map((form) => ({ form, ...partsOf(form) }))
  const formWithoutAction = forms.find(({ action }) => action === '')
  if (formWithoutAction !== undefined) return { found: formWithoutAction, operands: positionals }
  const [action, ...operands] = positionals
  const found = forms.find((form) => form.action === action)
  if (found !== undefined) return { found, operands }
  const actions = forms.map((form) => form.action)
  if (action === undefined)
    throw usageError(`stenolog ${command.name} needs an action: ${actions.join(', ')}.`, helpFor(command))
  const meant = didYouMean(action, actions, (name) => `stenolog ${command.name} ${name}`)
  throw usageError(`Unknown command ${quoted(`${command.name} ${action}`)}.${meant}`, helpFor(command))
}

const checkOperands = (command: Command, { found, operands }: ReturnType<typeof formFor>): void => {
  const called = `stenolog ${[command.name, found.action].join(' ').trimEnd()}`
  const { arguments: wanted } = found
  const missing = wanted.find(({ isOptional }, index) => !isOptional && operands[index] === undefined)
  if (missing !== undefined) {
    const meaning = command.arguments[missing.name]?.meaning ?? ''
    throw usageError(`${called} needs ${missing.name}: ${meaning}.`, helpFor(command))
  }
  const [surplus] = wanted.at(-1)?.isRepeatable === true ? [] : operands.slice(wanted.length)
  if (surplus !== undefined)
    throw usageError(`${called} does not accept the argument ${quoted(surplus)}.`, helpFor(command))
  for (const [index, operand] of operands.entries()) {
    const name = wanted[Math.min(index, wanted.length - 1)]?.name ?? ''
    const { rule } = command.arguments[name] ?? {}
    if (rule !== undefined && !rule.test(operand))
      throw usageError(`${name} should be ${rule.expected}, but is ${quoted(operand)}.`, helpFor(command))
  }
}

type Option = Command['options'][string]

const valueOf = ({ value, isRepeatable, fallback }: Option, given: ReadonlyArray<string> | undefined): unknown => {
  if (value === undefined) return given !== undefined
  if (isRepeatable === true) return given ?? []
  return given?.at(-1) ?? fallback
}

/** Node reads each invalid byte of an argument as this character. */
const INVALID_UTF8 = '\ufffd'

/** Parses the arguments by the command's table. Throws a CommandError with a hint for wrong arguments. */
export const readArguments = <C extends Command>(command: C, args: ReadonlyArray<string>): ParsedArguments<C> => {
  if (args.some((arg) => arg.includes(INVALID_UTF8)))
    throw usageError('An argument is not text in UTF-8. Set the terminal to UTF-8.', helpFor(command))
  const { given, positionals } = optionsIn(command, args)
  const { found, operands } = formFor(command, positionals)
  checkOperands(command, { found, operands })
  for (const name of given.keys())
    if (!found.form.options.includes(name))
      throw usageError(`--${name} is not an option of stenolog ${command.name} ${found.action}.`, helpFor(command))
  checkOptions(command, given)
  const options = Object.entries(command.options).map(([name, option]) => [name, valueOf(option, given.get(name))])
  // The cast is safe: valueOf builds each value by the same table as the type Values.
  return { action: found.action, operands, options: Object.fromEntries(options) as Values<C> }
}
