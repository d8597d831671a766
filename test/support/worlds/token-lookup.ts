import {
  resolveToken, type ResolveToken, type ResolveTokenDeps,
} from '../../../application/lives/queries/resolve-token.ts'
import { BEGINNING, type EventStore, type Position } from '../../../application/ports/event-store.ts'
import { findListedToken, findUnlistedLive } from '../../../projections/live-tokens/queries.ts'
import type { ReadDocuments } from '../../../projections/typed-documents.ts'
import { createTestCredentials } from '../doubles/credentials.ts'
import { createManualTimers } from '../doubles/manual-timers.ts'

interface TestTokenLookup extends Pick<ResolveTokenDeps, 'store'> {
  readonly store: Pick<EventStore, 'read' | 'subscribe'>
  readonly documents: ReadDocuments
  /** The position up to which the list of tokens contains all events. Default: the beginning of the log. */
  readonly listedUpTo?: () => Position
}

/** Composes the lookup of socket tokens in the same way as the service, without a time limit. */
export const testTokenLookup = ({ store, documents, listedUpTo }: TestTokenLookup): ResolveToken =>
  resolveToken({
    store,
    credentials: createTestCredentials(),
    findListedToken: findListedToken({ documents }),
    findUnlistedLive:
      findUnlistedLive({ store, timers: createManualTimers(), listedUpTo: listedUpTo ?? (() => BEGINNING) }),
  })
