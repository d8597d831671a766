/** An option of a command. Without `value` it is a switch. */
interface Option {
  /** What stands for its value in the help. */
  readonly value?: string
  readonly meaning: string
  readonly fallback?: string
  /** It may be given several times. */
  readonly several?: true
  readonly oneOf?: ReadonlyArray<string>
  readonly fits?: Rule
}

/** What a value has to be. */
interface Rule {
  readonly test: (text: string) => boolean
  /** Goes on after “should be”. */
  readonly says: string
}

/** One way to call a command: `create USER NAME`. Capitals stand for arguments: `[X]` may be left out, `X...` are several. */
interface Form {
  readonly words: string
  /** Names of options that it takes. */
  readonly options: ReadonlyArray<string>
}

/** A command: what its help says is what its arguments are checked by. */
export interface Command {
  readonly name: string
  /** One line. */
  readonly purpose: string
  /** Paragraphs. */
  readonly about: ReadonlyArray<string>
  readonly forms: ReadonlyArray<Form>
  readonly arguments: Readonly<Record<string, { readonly meaning: string; readonly fits?: Rule }>>
  readonly options: Readonly<Record<string, Option>>
  /** What follows `npm run stenolog -- `. */
  readonly examples: readonly [string, string]
  /** The page that says more. */
  readonly page: string
}

type ValueOf<O extends Option> = O extends { readonly value: string }
  ? O extends { readonly several: true }
    ? ReadonlyArray<string>
    : (O extends { readonly oneOf: ReadonlyArray<infer V> } ? V : string) | (O extends { readonly fallback: string } ? never : undefined)
  : boolean

/** The values of a command's options, as its table types them. */
export type Values<C extends Command> = { readonly [K in keyof C['options']]: ValueOf<C['options'][K]> }

/** A form taken apart: the word of its action, empty for none, and its arguments. */
export const partsOf = ({ words }: Form) => {
  const all = words.split(' ').filter((word) => word !== '')
  const names = all.filter((word) => word !== word.toLowerCase())
  return {
    action: all.find((word) => word === word.toLowerCase()) ?? '',
    arguments: names.map((word) => ({
      name: word.replaceAll(/[[\].]/g, ''),
      isOptional: word.startsWith('['),
      isSeveral: word.includes('...'),
    })),
  }
}

export const WHOLE_NUMBER: Rule = { test: (text) => /^\d{1,15}$/.test(text), says: 'a whole number' }

export const ID: Rule = { test: (text) => /^[1-9]\d{0,14}$/.test(text), says: 'an id, a whole number from 1' }

export const JSON_SWITCH = { meaning: 'prints JSON' } as const
