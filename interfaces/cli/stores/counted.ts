import type { EventStore } from '../../../application/ports/event-store.ts'
import type { StatusLine } from '../status-line.ts'

/** The store; the line shows how many events each subscription has read. */
export const counted = <S extends Pick<EventStore, 'subscribe'>>(store: S, step: string, status: StatusLine): S => ({
  ...store,
  subscribe: async function* (...asked: Parameters<EventStore['subscribe']>) {
    let events = 0
    for await (const message of store.subscribe(...asked)) {
      if (message.kind === 'event') events += 1
      status.show(step, `${events} read`)
      yield message
    }
  },
})
