import { messageOf } from '../domain/shared/message-of.ts'

/** What is wrong, and what to do next. */
export class CommandError extends Error {
  /** The next step, as a command to paste where there is one. */
  readonly hint: string | undefined
  /** 1: it failed. 2: it was asked for wrongly. */
  readonly exitCode: 1 | 2

  constructor(message: string, { hint, exitCode = 1 }: { readonly hint?: string | undefined; readonly exitCode?: 1 | 2 } = {}) {
    super(message)
    this.hint = hint
    this.exitCode = exitCode
  }
}

export const SETTINGS_HINT = 'README.md lists all settings with their defaults.'

/** An error whose command was written wrongly. */
export const misused = (message: string, hint?: string): CommandError => new CommandError(message, { hint, exitCode: 2 })

/** The lines that a person reads of an error: `error:` before each of its own that has none, then `hint:`. `of`: what it is about. */
export const linesOf = (error: unknown, of?: string): string => {
  const problems = messageOf(error).split('\n').map((line) => (/^(?:error|hint): /.test(line) ? line : `error: ${of === undefined ? '' : `${of}: `}${line}`))
  const hints = error instanceof CommandError && error.hint !== undefined ? [`hint: ${error.hint}`] : []
  return [...problems, ...hints].join('\n')
}

/** A value as an error shows it: one line, never long. */
export const quoted = (value: string): string => JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value)
