import { join } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { newEvents } from '../event-store-support.ts'

/**
 * A process that appends for ever to the log in the directory of its first argument, ten appends at a time, and
 * writes a line `id id` on standard output for each append that was acknowledged, `unavailable` for one that was not.
 */
const [, , directory = '', seed = ''] = process.argv
const store = await openSqliteEventStore({ file: join(directory, 'log.db') })

const appendForEver = async (stream: string): Promise<never> => {
  for (;;) {
    const events = newEvents(2)
    const appended = await store.append(stream, 'any', events)()
    process.stdout.write(E.isRight(appended) ? `${events.map(({ id }) => id).join(' ')}\n` : 'unavailable\n')
  }
}

await Promise.all(Array.from({ length: 10 }, (_, n) => appendForEver(`live-${seed}-${n}`)))
