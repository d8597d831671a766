import type { Credentials } from '../../../application/ports/credentials.ts'
import type { Documents } from '../../../application/ports/documents.ts'
import type { Keyring } from '../../../application/ports/keyring.ts'
import { holderOfToken, resolveToken } from '../../../projections/live-tokens/queries.ts'
import { factsOfLive, getLive, listLives, liveIdsOf, pageOfAllLives } from '../../../projections/lives/queries.ts'
import { factsOfEvents, viewOf } from '../../../projections/lives/view.ts'

interface LiveReadsDeps {
  readonly documents: Pick<Documents, 'get' | 'page'>
  readonly keyring: Pick<Keyring, 'open'>
  readonly credentials: Pick<Credentials, 'keyedHash'>
}

/** Returns the queries of sessions, for routes and use cases. */
export const liveReads = (deps: LiveReadsDeps) => ({
  getLive: getLive(deps),
  listLives: listLives(deps),
  pageOfAllLives: pageOfAllLives(deps),
  liveIdsOf: liveIdsOf(deps),
  holderOfToken: holderOfToken(deps),
  resolveToken: resolveToken(deps),
  viewOf: viewOf(deps),
  factsOf: factsOfEvents,
  factsOfLive: factsOfLive(deps),
})
