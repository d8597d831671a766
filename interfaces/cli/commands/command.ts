/** An option of a command. An option without `value` is a flag. */
interface Option {
  /** The placeholder of the value in the help, such as FILE. */
  readonly value?: string
  readonly meaning: string
  readonly fallback?: string
  /** The option may be repeated. */
  readonly isRepeatable?: true
  readonly oneOf?: ReadonlyArray<string>
  readonly rule?: Rule
}

/** A condition on a value. */
interface Rule {
  readonly test: (text: string) => boolean
  /** Completes the error “NAME should be …”, such as “a whole number”. */
  readonly expected: string
}

/**
 * One way to call a command: `create USER NAME`. Arguments are in capitals: `[X]` is optional, `X...` may be repeated.
 */
interface Form {
  readonly words: string
  /** Names of the options that this form accepts. */
  readonly options: ReadonlyArray<string>
}

/** A command. Its help and the check of its arguments both come from this table. */
export interface Command {
  readonly name: string
  /** Describes the command in one line. */
  readonly purpose: string
  /** The paragraphs of the help. */
  readonly about: ReadonlyArray<string>
  readonly forms: ReadonlyArray<Form>
  readonly arguments: Readonly<Record<string, { readonly meaning: string; readonly rule?: Rule }>>
  readonly options: Readonly<Record<string, Option>>
  /** Each example without its beginning `npm run stenolog -- `. */
  readonly examples: readonly [string, string]
  /** Path of the documentation page. */
  readonly page: string
}

type SingleValueOf<O extends Option> = O extends { readonly oneOf: ReadonlyArray<infer V> } ? V : string
type MissingValueOf<O extends Option> = O extends { readonly fallback: string } ? never : undefined
type ValueOf<O extends Option> = O extends { readonly value: string }
  ? O extends { readonly isRepeatable: true } ? ReadonlyArray<string> : SingleValueOf<O> | MissingValueOf<O>
  : boolean

/** The values of a command's options, with the types that its table implies. */
export type Values<C extends Command> = { readonly [K in keyof C['options']]: ValueOf<C['options'][K]> }

/** Splits a form into its action (empty when the form has no action) and its arguments. */
export const partsOf = ({ words }: Form) => {
  const all = words.split(' ').filter((word) => word !== '')
  const names = all.filter((word) => word !== word.toLowerCase())
  return {
    action: all.find((word) => word === word.toLowerCase()) ?? '',
    arguments: names.map((word) => ({
      name: word.replaceAll(/[[\].]/g, ''),
      isOptional: word.startsWith('['),
      isRepeatable: word.includes('...'),
    })),
  }
}

export const WHOLE_NUMBER: Rule = { test: (text) => /^\d{1,15}$/.test(text), expected: 'a whole number' }

/** The service accepts the same numbers. */
export const QUOTA: Rule = {
  test: (text) => WHOLE_NUMBER.test(text) && Number(text) <= 1e6, expected: 'a whole number up to 1000000',
}

export const WHOLE_NUMBER_FROM_1: Rule = {
  test: (text) => /^[1-9]\d{0,14}$/.test(text), expected: 'a whole number from 1',
}

export const ID: Rule = { ...WHOLE_NUMBER_FROM_1, expected: 'a number such as 7' }

/** The argument of commands on one session. */
export const SESSION = { SESSION: { meaning: 'the id of a session; stenolog lives list shows it', rule: ID } } as const

/** The example of a time, in help and errors. */
export const EXAMPLE_TIME = '2027-01-31T00:00:00Z'

export const JSON_FLAG = { meaning: 'prints JSON' } as const
