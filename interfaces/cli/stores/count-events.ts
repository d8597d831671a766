import type { EventStore } from '../../../application/ports/event-store.ts'
import type { StatusLine } from '../status-line.ts'

/** Wraps a store: the status line shows the number of events that each subscription has read. */
export const countEvents = <S extends Pick<EventStore, 'subscribe'>>(
  store: S,
  step: string,
  status: StatusLine,
): S => ({
  ...store,
  subscribe: async function* (...args: Parameters<EventStore['subscribe']>) {
    let events = 0
    for await (const message of store.subscribe(...args)) {
      if (message.kind === 'event') events += 1
      status.show(step, `${events} read`)
      yield message
    }
  },
})
