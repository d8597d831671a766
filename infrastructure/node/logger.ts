import { isatty } from 'node:tty'
import { destination, pino, stdSerializers } from 'pino'
import type { DestinationStream, LevelWithSilent } from 'pino'
import type { Logger } from '../../application/ports/environment.ts'
import { readableLog } from './readable-log.ts'

const SECRETS = ['token', 'token_sender', 'password', 'authorization']
const DEPTHS = ['', '*.', '*.*.']

/** Bytes of lines that wait for a disk to take them; those beyond are lost. */
const MAX_WAITING = 2 ** 20

/** A log that cannot be written (a full disk, a reader that is gone) is no reason to stop. */
const standardError = (level: LevelWithSilent): DestinationStream => {
  const lines = destination({ fd: 2, sync: true, maxLength: MAX_WAITING }).on('error', () => undefined)
  return isatty(2) ? readableLog(lines, level === 'debug' || level === 'trace') : lines
}

/** Errors of Node and of parsers carry the bytes that they stumbled over as members of their own. */
const shownError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const { type, message, stack, code } = stdSerializers.err(error) as { readonly [name: string]: unknown }
  return { type, message, stack, code }
}

/** JSON lines on standard error (or `to`), where that is a terminal lines for people; members named like a secret are censored down to the third level. */
export const createLogger = (level: LevelWithSilent, to: DestinationStream = standardError(level)): Logger => {
  const paths = DEPTHS.flatMap((depth) => SECRETS.map((name) => `${depth}${name}`))
  const timestamp = (): string => `,"time":"${new Date().toISOString()}"`
  const redact = { paths, censor: '[secret]' }
  const log = pino({ level, base: null, timestamp, redact, serializers: { err: shownError } }, to)
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  }
}
