import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import type { EventStore, LogCorrupted, StoredEvent, SubscriptionMessage } from '../../application/ports/event-store.ts'

/** Separates the prefix from the name. The service's own stream names do not contain it. */
const SEPARATOR = '.'

/** Returns the name of a stream on the server. `prefix`: STREAM_PREFIX, or null. */
export const onServer = (prefix: string | null, stream: string): string =>
  prefix === null ? stream : `${prefix}${SEPARATOR}${stream}`

/** Returns the name of a stream within the service; null: the stream belongs to another service. */
const inService = (prefix: string | null, stream: string): string | null => {
  const start = onServer(prefix, '')
  const name = stream.startsWith(start) ? stream.slice(start.length) : SEPARATOR
  return name.includes(SEPARATOR) ? null : name
}

/**
 * Restricts a log to the streams with this prefix, so several services can share the servers. Positions still refer to
 * the whole log.
 */
export const withStreamPrefix = (store: EventStore, prefix: string | null): EventStore => {
  const prefixed = (stream: string): string => onServer(prefix, stream)
  const unprefixed = (stream: string): string => inService(prefix, stream) ?? stream
  const toEvent = (event: StoredEvent): StoredEvent => ({ ...event, stream: unprefixed(event.stream) })

  const toRefusal = <R extends { readonly _tag: string }>(refusal: R): R => {
    const { row } = refusal as Partial<LogCorrupted>
    return row === undefined ? refusal : { ...refusal, row: { ...row, stream: unprefixed(row.stream) } }
  }
  /** Removes the prefix from the error of a subscription, if its cause names the stream of a damaged event. */
  const toError = (error: unknown): unknown => {
    if (!(error instanceof Error)) return error
    const cause = error.cause as LogCorrupted | undefined
    return cause?._tag === 'LogCorrupted' ? new Error(error.message, { cause: toRefusal(cause) }) : error
  }

  /** An event of another service becomes a checkpoint, so only the position advances. */
  const toMessage = (message: SubscriptionMessage): SubscriptionMessage => {
    if (message.kind === 'event') {
      const stream = inService(prefix, message.event.stream)
      const { position } = message.event
      return stream === null ? { kind: 'checkpoint', position } : { ...message, event: { ...message.event, stream } }
    }
    return message.kind === 'damaged' ? { ...message, stream: unprefixed(message.stream) } : message
  }

  return {
    ...store,
    append: async (stream, expected, events) => {
      const appended = await store.append(prefixed(stream), expected, events)
      return E.isLeft(appended) && appended.left._tag === 'WrongRevision'
        ? E.left({ ...appended.left, stream })
        : appended
    },
    read: async (stream, options) =>
      pipe(await store.read(prefixed(stream), options), E.bimap(toRefusal, (events) => events.map(toEvent))),
    subscribe: async function* (from, prefixes, signal) {
      try {
        for await (const message of store.subscribe(from, prefixes.map(prefixed), signal)) yield toMessage(message)
      } catch (error) {
        throw toError(error)
      }
    },
    setMetadata: (stream, metadata) => store.setMetadata(prefixed(stream), metadata),
    deleteStream: (stream) => store.deleteStream(prefixed(stream)),
  }
}
