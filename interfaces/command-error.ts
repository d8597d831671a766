import { messageOf } from '../domain/shared/message-of.ts'

/** An error for the user of the command line: the message says what is wrong, the hint says what to do. */
export class CommandError extends Error {
  /** The next step, preferably a command to paste. */
  readonly hint: string | undefined
  /** 1: failure. 2: wrong arguments. */
  readonly exitCode: 1 | 2

  constructor(
    message: string,
    { hint, exitCode = 1 }: { readonly hint?: string | undefined; readonly exitCode?: 1 | 2 } = {},
  ) {
    super(message)
    this.hint = hint
    this.exitCode = exitCode
  }
}

export const SETTINGS_HINT = 'docs/reference/settings.md lists all settings with their defaults.'

/** Returns the error for wrong arguments. */
export const usageError = (message: string, hint?: string): CommandError =>
  new CommandError(message, { hint, exitCode: 2 })

/**
 * Formats an error for standard error: `error: ` before each line, then the hint. Lines that already begin with
 * `error: ` or `hint: ` stay unchanged. `subject`: the file that the error is about, added unless the line names it.
 */
export const errorLines = (error: unknown, subject?: string): string => {
  const lines = messageOf(error).split('\n')
  const problems = lines.map((line) => {
    if (/^(?:error|hint): /.test(line)) return line
    return subject === undefined || line.includes(subject) ? `error: ${line}` : `error: ${subject}: ${line}`
  })
  const hints = error instanceof CommandError && error.hint !== undefined ? [`hint: ${error.hint}`] : []
  return [...problems, ...hints].join('\n')
}

/** Quotes a value for an error message: on one line, at most 80 characters. */
export const quoted = (value: string): string => JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value)
