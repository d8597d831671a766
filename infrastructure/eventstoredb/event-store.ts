import { setTimeout } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'
import * as E from 'fp-ts/lib/Either.js'
import type { EventStore } from '../../application/ports/event-store.ts'
import type { Logger } from '../../application/ports/environment.ts'
import { createAppends } from './appends.ts'
import { parseConnection } from './connection.ts'
import { agreeOnMark } from './log-format.ts'
import { watchOwner } from './log-owner.ts'
import type { Ownership } from './log-owner.ts'
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
  /** Of who appends: it writes the format and itself into the log's mark. Without it, opening the log writes nothing. */
  readonly ownership?: Ownership | null
  /** For a machine on which everything takes longer. */
  readonly limits?: Limits
}

/**
 * The event store on EventStoreDB (tried with server 23.10). One for a process: it holds one client, which is one
 * connection. Throws an Error for people when the server cannot be reached, a newer version has written the log, or it is
 * another's.
 */
export const openEventStoreDb = async ({ url, logger, ownership = null, limits }: Options): Promise<EventStore> => {
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
  const look = async () => {
    const head = await reads.head()()
    return E.isLeft(head) ? head : await agreeOnMark({ client, credentials, patience, ownership })
  }
  const deadline = performance.now() + START_MS
  let agreed = await look()
  while (E.isLeft(agreed)) {
    if (performance.now() > deadline) return await refuse(`the event store cannot be used: ${agreed.left.reason}`)
    await setTimeout(100)
    agreed = await look()
  }
  const { refusal, revision } = agreed.right
  if (refusal !== null) return await refuse(refusal)

  const closing = new AbortController()
  const watching = ownership === null ? null : watchOwner({ client, patience, ownership, revision }, closing.signal)
  const parts = { client, credentials, patience, reads, logger }
  return {
    ...reads,
    append: createAppends(parts),
    ...createStreamLimits(parts),
    subscribe: createSubscriptions(client, patience),
    close: async () => {
      closing.abort()
      await watching
      await client.dispose()
    },
  }
}
