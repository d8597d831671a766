import type { DatabaseSync } from 'node:sqlite'
import { isSqliteError, transaction } from '../database.ts'
import { bytesOf, contentDigests } from './event-row.ts'
import { SET_DIGEST } from './stream-digest.ts'

const ROWS_PER_STEP = 200
const PURGE_DELAY_MS = 250
const EXPIRY_INTERVAL_MS = 30_000

interface StaleRow {
  readonly pos: number
  readonly data: string | null
  readonly metadata: string | null
}

/**
 * Starts to remove the content of expired and truncated events, in small transactions between the appends. First it
 * raises the first revision of each stream that has events older than its $maxAge. Then it replaces the content of all
 * rows before the first revision by digests, so the hash chain can still be verified.
 */
export const startRetention = (
  database: DatabaseSync,
  now: () => number,
): { readonly schedule: () => void; readonly stop: () => void } => {
  const overdue = database.prepare(`
    SELECT sid, max_age_ms AS maxAgeMs FROM streams
    WHERE oldest_at + max_age_ms IS NOT NULL AND oldest_at + max_age_ms < ? LIMIT ${ROWS_PER_STEP}
  `)
  const firstSince = database.prepare(`
    SELECT rev, at FROM events
    WHERE sid = :sid AND rev >= (SELECT first FROM streams WHERE sid = :sid) AND at >= :since ORDER BY rev LIMIT 1
  `)
  const expireTo = database.prepare(
    'UPDATE streams SET first = coalesce(:rev, last + 1), oldest_at = :at WHERE sid = :sid',
  )
  const stale = database.prepare('SELECT sid, purged, first FROM streams WHERE purged < first LIMIT 1')
  const staleRows = database.prepare(
    'SELECT pos, data, metadata FROM events WHERE sid = ? AND rev >= ? AND rev < ? ORDER BY rev LIMIT ?',
  )
  const purgeRow = database.prepare('UPDATE events SET data = NULL, metadata = NULL, digests = ? WHERE pos = ?')
  const purgedTo = database.prepare('UPDATE streams SET purged = ? WHERE sid = ?')
  const updateDigest = database.prepare(`${SET_DIGEST} WHERE sid = ?`)

  /** Returns whether more streams may be overdue. */
  const expire = (at: number): boolean => {
    const streams = overdue.all(at) as unknown as ReadonlyArray<{ readonly sid: number; readonly maxAgeMs: number }>
    for (const { sid, maxAgeMs } of streams) {
      const kept = firstSince.get({ sid, since: at - maxAgeMs }) as
        { readonly rev: number; readonly at: number } | undefined
      expireTo.run({ sid, rev: kept?.rev ?? null, at: kept?.at ?? null })
      updateDigest.run(sid)
    }
    return streams.length === ROWS_PER_STEP
  }

  /** Returns whether more rows may have to be purged. */
  const purge = (): boolean => {
    let budget = ROWS_PER_STEP
    while (budget > 0) {
      const stream = stale.get() as
        { readonly sid: number; readonly purged: number; readonly first: number } | undefined
      if (stream === undefined) return false
      const rows = staleRows.all(stream.sid, stream.purged, stream.first, budget) as unknown as ReadonlyArray<StaleRow>
      for (const { pos, data, metadata } of rows) {
        if (data !== null && metadata !== null) purgeRow.run(bytesOf(contentDigests(data, metadata)), pos)
      }
      const done = rows.length < budget
      purgedTo.run(done ? stream.first : stream.purged + rows.length, stream.sid)
      updateDigest.run(stream.sid)
      budget -= Math.max(rows.length, 1)
    }
    return true
  }

  let timer: NodeJS.Timeout | undefined
  const step = (): void => {
    timer = undefined
    try {
      if (transaction(database, () => [expire(now()), purge()].includes(true))) schedule()
    } catch (error) {
      // For example, the disk is full. The next commit or the next interval tries again.
      if (!isSqliteError(error)) throw error
    }
  }
  const schedule = (): void => {
    timer ??= setTimeout(step, PURGE_DELAY_MS)
  }
  const interval = setInterval(schedule, EXPIRY_INTERVAL_MS)
  schedule()
  return {
    schedule,
    stop: () => {
      clearTimeout(timer)
      clearInterval(interval)
    },
  }
}
