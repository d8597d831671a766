import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, NewEvent } from '../../../application/ports/event-store.ts'

/** The fate of an append: it happens and is answered, it happens without an answer, or it does not happen. */
export type Fate = 'answered' | 'lost-answer' | 'not-made'

const unavailable = E.left({ _tag: 'StoreUnavailable', reason: 'test' } as const)

/** Wraps a store: the appends to a stream get the fates listed for it, in order. Later appends are answered. */
export const createFailingStore = (store: EventStore, fates: Readonly<Record<string, ReadonlyArray<Fate>>>) => {
  const appendCounts = new Map<string, number>()
  const appends: Array<{ readonly stream: string; readonly ids: ReadonlyArray<string> }> = []
  const append: EventStore['append'] = async (stream, expected, events: ReadonlyArray<NewEvent>) => {
    appends.push({ stream, ids: events.map(({ id }) => id) })
    const count = appendCounts.get(stream) ?? 0
    appendCounts.set(stream, count + 1)
    const fate = fates[stream]?.[count] ?? 'answered'
    if (fate === 'not-made') return unavailable
    const appended = await store.append(stream, expected, events)
    return fate === 'lost-answer' ? unavailable : appended
  }
  return {
    store: { ...store, append },
    appendsTo: (stream: string) => appends.filter((entry) => entry.stream === stream),
  }
}
