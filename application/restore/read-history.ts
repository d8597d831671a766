import { skipDamaged } from '../log/skip-damaged.ts'
import { BEGINNING, type EventStore, type StoredEvent } from '../ports/event-store.ts'
import { createHistory, type History } from './history.ts'

export interface ReadHistory {
  readonly history: History
  /** What could not be read or understood: the history may lack it. */
  readonly problems: ReadonlySet<string>
}

/** Yields the events of a log up to its present end; for a damaged row, its description. */
export async function* eventsUntilNow(
  { subscribe }: Pick<EventStore, 'subscribe'>,
): AsyncGenerator<StoredEvent | string> {
  const stop = new AbortController()
  try {
    for await (const message of skipDamaged(subscribe)(BEGINNING, [''], stop.signal)) {
      if (message.kind === 'caught-up') return
      if (message.kind === 'damaged') yield `position ${message.position} (${message.stream}) is damaged`
      if (message.kind === 'event') yield message.event
    }
  } finally {
    stop.abort()
  }
}

/** Reads the history of a log. `onEvents` reports the number of events that were read. */
export const readHistory = async (
  events: AsyncIterable<StoredEvent | string>,
  onEvents: (count: number) => void = () => undefined,
): Promise<ReadHistory> => {
  const { history, observe } = createHistory()
  const problems = new Set<string>()
  let count = 0
  for await (const event of events) {
    count += 1
    if (count % 1000 === 0) onEvents(count)
    const problem = typeof event === 'string' ? event : observe(event)
    if (problem !== null) problems.add(problem)
  }
  return { history, problems }
}
