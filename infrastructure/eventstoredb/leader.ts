import type { EventStoreDBClient } from '@eventstore/db-client'

/**
 * The connection to the node that leads now, which is another one after an election: asked for anew with every call and
 * every subscription. Both may throw an Error whose cause is StoreUnavailable, while nobody is known to lead.
 */
export interface Connected {
  readonly client: () => EventStoreDBClient
  /** Aborts when the node that `client` gives now leads no longer, or fell silent: what runs on it is to end. */
  readonly lost: () => AbortSignal
}
