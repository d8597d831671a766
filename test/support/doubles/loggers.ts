import type { Logger } from '../../../application/ports/environment.ts'

export const silentLogger: Logger = { info: () => undefined, warn: () => undefined, error: () => undefined }

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error'
  readonly fields: Readonly<Record<string, unknown>>
  readonly message: string
}

/** Keeps the log lines for assertions. */
export const createRecordingLogger = (): Logger & { readonly lines: ReadonlyArray<LogLine> } => {
  const lines: LogLine[] = []
  const record = (level: LogLine['level']) => (fields: LogLine['fields'], message: string) => {
    lines.push({ level, fields, message })
  }
  return { lines, info: record('info'), warn: record('warn'), error: record('error') }
}
