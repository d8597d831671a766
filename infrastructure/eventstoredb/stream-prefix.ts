import * as E from 'fp-ts/lib/Either.js'
import { pipe } from 'fp-ts/lib/function.js'
import * as TE from 'fp-ts/lib/TaskEither.js'
import type { EventStore, LogCorrupted, StoredEvent, SubscriptionMessage } from '../../application/ports/event-store.ts'

/** Behind a prefix; in no name of a stream of the service's own. */
const SEPARATOR = '.'

/** The name on the server of a stream of the service with STREAM_PREFIX (null: none). */
export const onServer = (prefix: string | null, stream: string): string =>
  prefix === null ? stream : `${prefix}${SEPARATOR}${stream}`

/** The name in the service of a stream on the server; null for one of another service. */
const inService = (prefix: string | null, stream: string): string | null => {
  const begin = onServer(prefix, '')
  const name = stream.startsWith(begin) ? stream.slice(begin.length) : SEPARATOR
  return name.includes(SEPARATOR) ? null : name
}

/**
 * The log of one of several services on the same servers: its streams have names of their own, and it sees no others.
 * Positions are those of the whole log.
 */
export const withStreamPrefix = (store: EventStore, prefix: string | null): EventStore => {
  const named = (stream: string): string => onServer(prefix, stream)
  const unnamed = (stream: string): string => inService(prefix, stream) ?? stream
  const seen = (event: StoredEvent): StoredEvent => ({ ...event, stream: unnamed(event.stream) })

  const damagedHere = <R extends { readonly _tag: string }>(refusal: R): R => {
    const { row } = refusal as Partial<LogCorrupted>
    return row === undefined ? refusal : { ...refusal, row: { ...row, stream: unnamed(row.stream) } }
  }
  /** What a subscription throws names a row in its cause. */
  const thrownHere = (error: unknown): unknown => {
    if (!(error instanceof Error)) return error
    const cause = error.cause as LogCorrupted | undefined
    return cause?._tag === 'LogCorrupted' ? new Error(error.message, { cause: damagedHere(cause) }) : error
  }

  /** What another service wrote moves nobody but the position. */
  const translated = (message: SubscriptionMessage): SubscriptionMessage => {
    if (message.kind === 'event') {
      const stream = inService(prefix, message.event.stream)
      const { position } = message.event
      return stream === null ? { kind: 'checkpoint', position } : { ...message, event: { ...message.event, stream } }
    }
    return message.kind === 'damaged' ? { ...message, stream: unnamed(message.stream) } : message
  }

  return {
    ...store,
    append: (stream, expected, events) => async () => {
      const appended = await store.append(named(stream), expected, events)()
      return E.isLeft(appended) && appended.left._tag === 'WrongRevision'
        ? E.left({ ...appended.left, stream })
        : appended
    },
    read: (stream, options) =>
      pipe(store.read(named(stream), options), TE.bimap(damagedHere, (events) => events.map(seen))),
    subscribe: async function* (from, prefixes, signal) {
      try {
        for await (const message of store.subscribe(from, prefixes.map(named), signal)) yield translated(message)
      } catch (error) {
        throw thrownHere(error)
      }
    },
    setMetadata: (stream, metadata) => store.setMetadata(named(stream), metadata),
    deleteStream: (stream) => store.deleteStream(named(stream)),
  }
}
