import { destination, pino } from 'pino'
import type { DestinationStream, LevelWithSilent } from 'pino'
import type { Logger } from '../application/ports/environment.ts'

const SECRETS = ['token', 'token_sender', 'password', 'authorization']
const DEPTHS = ['', '*.', '*.*.']

/** JSON lines on standard error (or `to`); members named like a secret are censored down to the third level. */
export const createLogger = (level: LevelWithSilent, to: DestinationStream = destination({ fd: 2, sync: true })): Logger => {
  const paths = DEPTHS.flatMap((depth) => SECRETS.map((name) => `${depth}${name}`))
  const log = pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"`, redact: { paths, censor: '[secret]' } }, to)
  return {
    info: (fields, message) => log.info(fields, message),
    warn: (fields, message) => log.warn(fields, message),
    error: (fields, message) => log.error(fields, message),
  }
}
