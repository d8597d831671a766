import { setTimeout } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore, StoreUnavailable } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { createAppends } from './appends.ts'
import { parseConnection } from './connection.ts'
import { agreeOnFormat } from './log-format.ts'
import { createPatience, type Limits } from './patience.ts'
import { createReads } from './reads.ts'
import { createStreamLimits } from './stream-limits.ts'
import { createSubscriptions } from './subscriptions.ts'

/** A cluster that is just choosing its leader gets this long at start. */
const START_MS = 3000

const connect = (connectionString: string): EventStoreDBClient => {
  let failed: unknown
  try {
    return EventStoreDBClient.connectionString(connectionString)
  } catch (error) {
    failed = error
  }
  // Not passed on: only those about certificate files do not quote the string, which may hold a password.
  const reason = failed instanceof Error && /certificate|userCertFile/.test(failed.message) ? failed.message : 'its URL is wrong'
  throw new Error(`the event store cannot be used: ${reason}`)
}

interface Options {
  /** Connection string, as the setting EVENTSTORE_URL takes it. */
  readonly url: string
  readonly logger?: Logger
  /** Writes into the log which format it has, as who appends to it must; without this, opening it writes nothing. */
  readonly marks?: boolean
  /** For a machine on which everything takes longer. */
  readonly limits?: Limits
}

/**
 * The event store on EventStoreDB (tried with server 23.10). One for a process: it holds one client, which is one
 * connection. Throws an Error for people when the server cannot be reached or a newer version has written the log.
 */
export const openEventStoreDb = async ({ url, logger, marks = false, limits }: Options): Promise<EventStore> => {
  const connection = parseConnection(url)
  if (E.isLeft(connection)) throw new Error(`the event store's URL ${connection.left}`)
  const { connectionString, credentials } = connection.right
  const client = connect(connectionString)
  const patience = createPatience(limits)
  const reads = createReads(client, patience)

  const refuse = async (reason: string): Promise<never> => {
    await client.dispose()
    throw new Error(reason)
  }
  const look = async (): Promise<E.Either<StoreUnavailable, string | null>> => {
    const head = await reads.head()()
    return E.isLeft(head) ? head : await agreeOnFormat({ client, credentials, patience, marks })
  }
  const deadline = performance.now() + START_MS
  for (;;) {
    const refusal = await look()
    if (E.isRight(refusal)) {
      if (refusal.right !== null) await refuse(refusal.right)
      break
    }
    if (performance.now() > deadline) await refuse(`the event store cannot be used: ${refusal.left.reason}`)
    await setTimeout(100)
  }

  const connected = { client: () => client, lost: () => new AbortController().signal }
  const parts = { client, credentials, patience, reads, logger }
  return {
    ...reads,
    append: createAppends(parts),
    ...createStreamLimits(parts),
    subscribe: createSubscriptions({ connected, patience, head: reads.head }),
    close: () => client.dispose(),
  }
}
