import { resolveToken } from '../../../application/lives/queries/resolve-token.ts'
import { shareLookups } from '../../../application/lives/queries/share-lookups.ts'
import { unlistedLive } from '../../../application/lives/queries/unlisted-live.ts'
import type { LoadDeps } from '../../../application/log/states/load-state.ts'
import type { Credentials } from '../../../application/ports/credentials.ts'
import type { Documents } from '../../../application/ports/documents.ts'
import type { Environment } from '../../../application/ports/environment.ts'
import type { EventStore } from '../../../application/ports/event-store.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { findListedToken, findUnlistedLive, holderOfToken } from '../../../projections/live-tokens/queries.ts'
import type { UnlistedLiveDeps } from '../../../projections/live-tokens/queries.ts'
import { factsOfLive, getLive, listLives, liveIdsOf, pageOfAllLives } from '../../../projections/lives/queries.ts'

interface LiveReadsDeps extends UnlistedLiveDeps, Pick<LoadDeps, 'states'> {
  readonly store: Pick<EventStore, 'read' | 'subscribe'>
  readonly documents: Pick<Documents, 'get' | 'page'>
  readonly keyring: Pick<Keyring, 'open'>
  readonly credentials: Pick<Credentials, 'keyedHash'>
  readonly environment: Pick<Environment, 'monotonic'>
}

/** Returns the queries of sessions, for routes and use cases. */
export const liveReads = (deps: LiveReadsDeps) => {
  const fromList = { ...deps, unlistedLive: unlistedLive(deps) }
  const lookups = { findListedToken: findListedToken(deps), findUnlistedLive: findUnlistedLive(deps) }
  return {
    getLive: getLive(fromList),
    listLives: listLives(deps),
    pageOfAllLives: pageOfAllLives(deps),
    liveIdsOf: liveIdsOf(deps),
    holderOfToken: holderOfToken(deps),
    resolveToken: shareLookups(resolveToken({ ...deps, ...lookups }), deps.environment),
    factsOfLive: factsOfLive(fromList),
  }
}
