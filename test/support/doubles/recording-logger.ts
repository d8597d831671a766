import type { Logger } from '../../../application/ports/environment.ts'

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** Keeps what was logged. */
export const createRecordingLogger = (): Logger & { readonly lines: ReadonlyArray<LogLine> } => {
  const lines: LogLine[] = []
  const at = (level: LogLine['level']) => (fields: LogLine['fields'], message: string) => {
    lines.push({ level, fields, message })
  }
  return { lines, info: at('info'), warn: at('warn'), error: at('error') }
}
