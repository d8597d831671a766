import { openSqliteEventReader } from '../../../infrastructure/sqlite/event-log/event-reader.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'

/** A process that does nothing but read the log of its first argument to its end, and prints how many events it holds. */
const reader = openSqliteEventReader({ file: process.argv[2] ?? '' })
const enough = new AbortController()
let events = 0
for await (const { kind } of reader.subscribe(BEGINNING, ['a-'], enough.signal)) {
  if (kind === 'event') events += 1
  if (kind === 'caught-up') enough.abort()
}
await reader.close()
console.log(events)
