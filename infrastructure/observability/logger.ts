import { isatty } from 'node:tty'
import { destination, type DestinationStream, type LevelWithSilent, pino, stdSerializers } from 'pino'
import type { Logger } from '../../application/ports/environment.ts'
import { readableLog } from './readable-log.ts'

const SECRETS = ['token', 'token_sender', 'password', 'authorization']
const DEPTHS = ['', '*.', '*.*.']

/** Bytes of log lines that may wait for a slow disk; further lines are lost. */
const MAX_WAITING_BYTES = 2 ** 20

/** Ignores write errors: a full disk or a closed pipe must not stop the service. */
const standardError = (level: LevelWithSilent): DestinationStream => {
  const lines = destination({ fd: 2, sync: true, maxLength: MAX_WAITING_BYTES }).on('error', () => undefined)
  return isatty(2) ? readableLog(lines, level === 'debug' || level === 'trace') : lines
}

/** Logs only these members of an error: errors of Node and of parsers also carry the bytes of the failed input. */
const serializeError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const { type, message, stack, code } = stdSerializers.err(error) as { readonly [name: string]: unknown }
  return { type, message, stack, code }
}

/**
 * Creates a log that writes JSON lines to standard error or to `to`, and readable lines to a terminal. Members with the
 * name of a secret are censored down to the third level.
 */
export const createLogger = (level: LevelWithSilent, to: DestinationStream = standardError(level)): Logger => {
  const paths = DEPTHS.flatMap((depth) => SECRETS.map((name) => `${depth}${name}`))
  const timestamp = (): string => `,"time":"${new Date().toISOString()}"`
  const redact = { paths, censor: '[secret]' }
  const log = pino({ level, base: null, timestamp, redact, serializers: { err: serializeError } }, to)
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  }
}
