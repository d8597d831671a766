import * as E from 'fp-ts/lib/Either.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { Position, StoredEvent, SubscriptionMessage } from '../application/ports/event-store.ts'

/** A run of messages handled as one. */
export interface Batch {
  readonly events: ReadonlyArray<StoredEvent>
  /** Everything up to here was considered. */
  readonly position: Position
  /** Among these the subscription said that it had delivered all there was. */
  readonly caughtUp: boolean
}

const IDLE = Symbol('nothing is ready')

/** Resolves in the next turn of the event loop; one timer serves all who ask within a turn. */
const turns = (): (() => Promise<typeof IDLE>) => {
  let current: Promise<typeof IDLE> | null = null
  return () =>
    (current ??= new Promise((resolve) => {
      setImmediate(() => {
        current = null
        resolve(IDLE)
      })
    }))
}

const batchOf = (messages: ReadonlyArray<SubscriptionMessage>, last: SubscriptionMessage): Batch => ({
  events: messages.flatMap((message) => (message.kind === 'event' ? [message.event] : [])),
  position: last.kind === 'event' ? last.event.position : last.position,
  caughtUp: messages.some((message) => message.kind === 'caught-up'),
})

/**
 * At most `limit` messages at a time, fewer when no more are ready: a backlog is taken in large steps, and a lone
 * event waits for nothing. While a batch is worked on, at most one further message is asked for.
 */
export async function* inBatches(messages: AsyncIterable<SubscriptionMessage>, limit: number): AsyncGenerator<Batch, void> {
  const idle = turns()
  const iterator = messages[Symbol.asyncIterator]()
  let waiting: Array<SubscriptionMessage> = []
  const take = (): ReadonlyArray<Batch> => {
    const last = waiting.at(-1)
    const taken = last === undefined ? [] : [batchOf(waiting, last)]
    waiting = []
    return taken
  }
  try {
    for (;;) {
      if (waiting.length >= limit) yield* take()
      const next = TE.tryCatch(() => iterator.next(), (error) => error)()
      if (waiting.length > 0 && (await Promise.race([next, idle()])) === IDLE) yield* take()
      const message = await next
      if (E.isLeft(message) || message.right.done === true) {
        // What came before the end counts: a subscription that dies early each time still gets somewhere.
        yield* take()
        if (E.isLeft(message)) throw message.left
        return
      }
      waiting.push(message.right.value)
    }
  } finally {
    await iterator.return?.()
  }
}
