import type { Position, StoredEvent, SubscriptionMessage } from '../application/ports/event-store.ts'

/** Messages of a subscription that are handled together. */
export interface Batch {
  readonly events: ReadonlyArray<StoredEvent>
  /** Position of the last message. */
  readonly position: Position
  /** The subscription has delivered the whole log as it was when the subscription began. */
  readonly caughtUp: boolean
  /** It ended at the limit, so more messages are likely to be ready. */
  readonly isFull: boolean
}

const IDLE = Symbol('no message is ready')

/** Returns a function that resolves in the next turn of the event loop. Calls in the same turn share one timer. */
const createIdleCheck = (): (() => Promise<typeof IDLE>) => {
  let current: Promise<typeof IDLE> | null = null
  return () =>
    (current ??= new Promise((resolve) => {
      setImmediate(() => {
        current = null
        resolve(IDLE)
      })
    }))
}

type Outcome = { readonly message: IteratorResult<SubscriptionMessage> } | { readonly error: unknown }

/** Requests the next message. Never rejects, because the request may wait while the caller works on a batch. */
const nextOf = (iterator: AsyncIterator<SubscriptionMessage>): Promise<Outcome> =>
  iterator.next().then((message) => ({ message }), (error: unknown) => ({ error }))

const batchOf = (
  messages: ReadonlyArray<SubscriptionMessage>, last: SubscriptionMessage, limit: number,
): Batch => ({
  events: messages.flatMap((message) => (message.kind === 'event' ? [message.event] : [])),
  position: last.kind === 'event' ? last.event.position : last.position,
  caughtUp: messages.some((message) => message.kind === 'caught-up'),
  isFull: messages.length >= limit,
})

/**
 * Yields batches of at most `limit` messages. A batch ends early when no further message is ready, so a single event is
 * not delayed. While the caller works on a batch, at most one further message is requested.
 */
export async function* inBatches(
  messages: AsyncIterable<SubscriptionMessage>,
  limit: number,
): AsyncGenerator<Batch, void> {
  const idle = createIdleCheck()
  const iterator = messages[Symbol.asyncIterator]()
  let waiting: Array<SubscriptionMessage> = []
  const take = (): ReadonlyArray<Batch> => {
    const last = waiting.at(-1)
    const taken = last === undefined ? [] : [batchOf(waiting, last, limit)]
    waiting = []
    return taken
  }
  try {
    for (;;) {
      if (waiting.length >= limit) yield* take()
      const next = nextOf(iterator)
      if (waiting.length > 0 && (await Promise.race([next, idle()])) === IDLE) yield* take()
      const outcome = await next
      if ('error' in outcome || outcome.message.done === true) {
        // Messages before an error still count, so a subscription that fails repeatedly makes progress.
        yield* take()
        if ('error' in outcome) throw outcome.error
        return
      }
      waiting.push(outcome.message.value)
    }
  } finally {
    await iterator.return?.()
  }
}
