import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { EventStoreDBClient, jsonEvent, type JSONEventData, type ReadStreamOptions } from '@eventstore/db-client'

/** The functions of the recorded scripts, which print each call and its outcome. */
export interface Session {
  readonly client: EventStoreDBClient
  readonly connect: (options: string) => EventStoreDBClient
  /** Prints the outcome of a call. */
  readonly show: (label: string, call: () => unknown) => Promise<void>
  readonly print: (...words: ReadonlyArray<unknown>) => void
}

const asText = (value: unknown): string | undefined =>
  JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member))

const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const members = Object.entries(error).filter(([name]) => name !== '_raw' && name !== 'stack')
  const { type } = error as { readonly type?: string }
  const text = asText(Object.fromEntries(members))?.slice(0, 300)
  return `${error.constructor.name} | type= ${type} | msg= ${error.message} | ${text}`
}

const account = { credentials: { username: 'admin', password: 'changeit' } }

/** Opens a session. The first argument of the script is the URL of the server. */
export const openSession = (): Session => {
  const connect = (options: string): EventStoreDBClient => {
    const client = EventStoreDBClient.connectionString(`${process.argv[2]}${options}`)
    const append = client.appendToStream.bind(client)
    // With credentials the client sends each append in a call of its own, like that of the service.
    client.appendToStream = (stream, events, given) => append(stream, events, { ...account, ...given })
    return client
  }
  const print = (...words: ReadonlyArray<unknown>): void => console.log(...words)
  const show = async (label: string, call: () => unknown): Promise<void> => {
    try {
      print(label, '->', 'OK', asText(await call()))
    } catch (error) {
      print(label, '->', 'ERR', describe(error))
    }
  }
  return { client: connect(''), connect, show, print }
}

export const event = (
  n: unknown,
  { id, pad = 10, metadata }: { id?: string; pad?: number; metadata?: Record<string, unknown> } = {},
): JSONEventData =>
  jsonEvent({
    type: 'TestEvent',
    id: id ?? randomUUID(),
    data: { n, pad: 'x'.repeat(pad) },
    ...(metadata === undefined ? {} : { metadata }),
  })

/** Returns the result of a call, or `nothing` when the call does not return in time. */
export const orNothing = (call: Promise<unknown>, ms: number, nothing: string): Promise<unknown> =>
  Promise.race([call, delay(ms, nothing)])

/** Reads a stream. Returns the revision and the number of each event. */
export const reading =
  (client: EventStoreDBClient, stream: string, options?: ReadStreamOptions) =>
  async (): Promise<ReadonlyArray<string>> => {
    const seen: string[] = []
    for await (const { event: found } of client.readStream(stream, options)) {
      const data = found?.data as { readonly n?: number } | undefined
      seen.push(`${found?.revision}:${data?.n ?? found?.type}`)
    }
    return seen
  }

/** Returns a random part for the name of a stream. */
export const short = (): string => randomUUID().slice(0, 8)
