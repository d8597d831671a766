import type { Environment, Logger } from './ports/environment.ts'

type Fields = Readonly<Record<string, unknown>>

/** A problem that may last, such as a store that does not answer. Its log has one line for each cause. */
export interface Outage {
  /**
   * Call it at every failure. Logs a new cause at once. Repeats it as a reminder after 1, 2, 4 … minutes, at most 60.
   * A cause should not contain values that change with every failure, except time limits.
   */
  readonly failed: (reason: string, about?: Fields) => void
  /** Call it at every success. Logs the end of a logged outage and how long it lasted, in seconds. */
  readonly ended: (about?: Fields) => void
}

interface OutageDeps {
  readonly logger: Pick<Logger, 'info' | 'warn'>
  readonly environment: Pick<Environment, 'monotonic'>
}

const FIRST_REMINDER_MS = 60_000
const LAST_REMINDER_MS = 60 * 60_000
/** Further causes share one line and its reminders, so causes that always differ do not flood the log. */
const MAX_CAUSES = 20
const FURTHER_CAUSES = ''

/** Causes that differ only in a time limit are the same: limits adapt to the server. */
const causeOf = (reason: string): string => reason.replaceAll(/\d{1,9} m?s\b/g, '')

/**
 * Logs an outage: the message `failing` once a cause, with reminders at growing intervals, and `over` at its end. A
 * store that fails and works in turn is not logged each time.
 */
export const createOutage = (
  { logger, environment: { monotonic } }: OutageDeps, failing: string, over: string,
): Outage => {
  /** When a cause was last logged, and how long it is then silent. */
  const lines = new Map<string, { readonly at: number; readonly silentFor: number }>()
  let outage: { readonly since: number; failures: number; isLogged: boolean } | null = null

  const figures = ({ since, failures }: NonNullable<typeof outage>): Fields =>
    ({ failures, seconds: Math.round((monotonic() - since) / 1000) })

  return {
    failed: (reason, about) => {
      const now = monotonic()
      outage ??= { since: now, failures: 0, isLogged: false }
      outage.failures += 1
      const known = causeOf(reason)
      const cause = lines.has(known) || lines.size < MAX_CAUSES ? known : FURTHER_CAUSES
      const last = lines.get(cause)
      if (last !== undefined && now < last.at + last.silentFor) return
      const silentFor = last === undefined ? FIRST_REMINDER_MS : Math.min(2 * last.silentFor, LAST_REMINDER_MS)
      lines.set(cause, { at: now, silentFor })
      outage.isLogged = true
      logger.warn({ ...about, reason, ...(outage.failures > 1 && figures(outage)) }, failing)
    },
    ended: (about) => {
      if (outage?.isLogged === true) {
        logger.info({ ...about, ...figures(outage) }, over)
        for (const [cause, { at }] of lines) lines.set(cause, { at, silentFor: FIRST_REMINDER_MS })
      }
      outage = null
    },
  }
}
