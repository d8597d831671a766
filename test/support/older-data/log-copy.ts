import { EventStoreDBClient, jsonEvent, type JSONEventData } from '@eventstore/db-client'
import type { Json } from '../service/client.ts'

/** An event of a service, or the metadata of one of its streams (stream `$$NAME`). A JSON value. */
interface LoggedEvent extends Pick<JSONEventData, 'id' | 'type' | 'data' | 'metadata'> {
  readonly stream: string
}

/** A log on EventStoreDB. A JSON value. */
export type LogCopy = ReadonlyArray<LoggedEvent>

/** With credentials, the client appends one event after another. A server without TLS ignores them. */
const AS_ANYBODY = { credentials: { username: 'admin', password: 'changeit' } }

/** Reads all events and the metadata of a log on EventStoreDB, in order. */
export const readLog = async (url: string): Promise<LogCopy> => {
  const client = EventStoreDBClient.connectionString(url)
  const events: Array<LoggedEvent> = []
  for await (const { event } of client.readAll()) {
    if (event?.isJson !== true || !/^(?:\$\$)?[^$]/.test(event.streamId)) continue
    const { streamId: stream, id, type, data, metadata } = event
    events.push({ stream, id, type, data, metadata })
  }
  await client.dispose()
  return events
}

/** The metadata of a deleted stream. JSON.parse rounds its number, so it cannot be written as an event. */
const isDeletion = ({ stream, data }: LoggedEvent): boolean =>
  stream.startsWith('$$') && Number((data as Json)['$tb']) > Number.MAX_SAFE_INTEGER

/** Writes a copy to an empty log. Its events get other positions. */
export const writeLog = async (url: string, copy: LogCopy): Promise<void> => {
  const client = EventStoreDBClient.connectionString(url)
  for (const event of copy) {
    const { stream, ...members } = event
    if (isDeletion(event)) await client.deleteStream(stream.slice(2), AS_ANYBODY)
    else await client.appendToStream(stream, jsonEvent(members), AS_ANYBODY)
  }
  await client.dispose()
}
