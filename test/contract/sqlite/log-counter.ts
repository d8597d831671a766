import { openSqliteEventReader } from '../../../infrastructure/sqlite/event-log/event-reader.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'

/** Reads the log of its first argument to its end and prints the number of events. */
const reader = openSqliteEventReader({ file: process.argv[2] ?? '' })
const stop = new AbortController()
let events = 0
for await (const { kind } of reader.subscribe(BEGINNING, ['a-'], stop.signal)) {
  if (kind === 'event') events += 1
  if (kind === 'caught-up') stop.abort()
}
await reader.close()
console.log(events)
