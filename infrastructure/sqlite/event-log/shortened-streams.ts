import type { ShortenedStream } from '../../../application/ports/integrity.ts'
import { openForReading, rowsInPages } from '../database.ts'

/** Yields the streams of a log that do not show all of their events. */
export function* shortenedStreams(file: string): Generator<ShortenedStream> {
  const database = openForReading(file)
  try {
    const select = `
      SELECT sid, name, first > 0 AS isShort, max_count IS NOT NULL OR max_age_ms IS NOT NULL AS hasLimit
      FROM streams WHERE sid > ?
    `
    for (const { name, isShort, hasLimit } of rowsInPages(database, select, 'sid', 0))
      if (isShort !== 0 || hasLimit !== 0) yield { name: String(name), hasLimit: hasLimit !== 0 }
  } finally {
    database.close()
  }
}
