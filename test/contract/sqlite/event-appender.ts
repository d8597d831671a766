import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { newEvents } from '../event-store-support.ts'

/**
 * Appends without end to the log in the directory of its first argument, ten appends at a time. For each append it
 * prints the line `id id` after the acknowledgement, or `unavailable`.
 */
const [, , directory = '', seed = ''] = process.argv
const store = await openSqliteEventStore({ file: join(directory, 'log.db') })

const appendWithoutEnd = async (stream: string): Promise<never> => {
  for (;;) {
    const events = newEvents(2)
    const appended = await store.append(stream, 'any', events)
    process.stdout.write(E.isRight(appended) ? `${events.map(({ id }) => id).join(' ')}\n` : 'unavailable\n')
  }
}

await Promise.all(Array.from({ length: 10 }, (_, n) => appendWithoutEnd(`live-${seed}-${n}`)))
