import { type ResolveToken, resolveToken } from '../../application/lives/queries/resolve-token.ts'
import { shareLookups } from '../../application/lives/queries/share-lookups.ts'
import { unlistedLive } from '../../application/lives/queries/unlisted-live.ts'
import type { Documents } from '../../application/ports/documents.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { Projector } from '../../application/ports/projector.ts'
import type { FactsOfLive, HolderOfToken, IdsOfUser, PageOfAllLives } from '../../application/ports/read-models.ts'
import { startTokenDirectory, type TokenDirectory } from '../../application/tokens/policies/token-directory.ts'
import { type LoginDirectory, startLoginDirectory } from '../../application/users/policies/login-directory.ts'
import { startUserDirectory, type UserDirectory } from '../../application/users/policies/user-directory.ts'
import { atMost } from '../../application/waiting.ts'
import { foldingCode } from '../../infrastructure/files/folding-code.ts'
import { allProjections } from '../../projections/all-projections.ts'
import { tokenIdByPrefix, tokenIdsOf } from '../../projections/api-tokens/queries.ts'
import { liveTokens } from '../../projections/live-tokens/projection.ts'
import { findListedToken, findUnlistedLive, holderOfToken } from '../../projections/live-tokens/queries.ts'
import {
  factsOfLive, type GetLive, getLive, type ListLives, listLives, liveIdsOf, pageOfAllLives,
} from '../../projections/lives/queries.ts'
import { catchingUpAfterStart, onceCurrent } from '../../projections/once-current.ts'
import { startProjector } from '../../projections/projector.ts'
import { assemble, type Part } from './assemble.ts'
import type { Foundation } from './foundation.ts'
import { runStartStep } from './start-step.ts'
import { monitorStores, type StoreWatch } from './store-watch.ts'

/** The queries of sessions. */
export interface LiveReads {
  readonly getLive: GetLive
  readonly listLives: ListLives
  readonly pageOfAllLives: PageOfAllLives
  readonly liveIdsOf: IdsOfUser
  readonly holderOfToken: HolderOfToken
  readonly resolveToken: ResolveToken
  readonly factsOfLive: FactsOfLive
}

/** The read models, and the directories of users, tokens and logins, which keep the current state in memory. */
export interface ReadSide {
  readonly projector: Projector
  readonly whenProjected: Projector['whenProjected']
  readonly directory: UserDirectory
  readonly tokens: TokenDirectory
  readonly logins: LoginDirectory
  readonly storeWatch: StoreWatch
  /** Unavailable while their projection catches up after the start. */
  readonly documents: Pick<Documents, 'get' | 'find' | 'page'>
  readonly lives: LiveReads
  readonly tokenIdsOf: IdsOfUser
}

/**
 * How long the start waits for the read models. After a restart they catch up within this time. Read models that are
 * rebuilt need longer: their routes respond with 503 until the rebuild ends.
 */
const CATCH_UP_MS = 4000

/** Starts the read models, the directories, and the watch over the event store. */
export const startReadSide = (foundation: Foundation): Promise<ReadSide & Part> =>
  assemble(async (opened) => {
    const { settings, store, documents: all, keyring, states, credentials, environment, timers, logger } = foundation
    const leases = settings.role.includes('projector') ? foundation.leases : null
    const code = await foldingCode()
    // The directories follow the log from this position. The projector starts later, so its read
    // models contain all earlier events.
    const from = await runStartStep('read the head of the log', () => store.head())
    const stopping = new AbortController()
    const following = { store, logger, environment, timers, signal: stopping.signal }
    const projector = startProjector({ ...following, documents: all, projections: allProjections, code, leases })
    const whyBehind = catchingUpAfterStart(allProjections, projector)
    const documents = onceCurrent(all, whyBehind)
    const directory = startUserDirectory({ ...following, from, keyring, states })
    const findTokenId = tokenIdByPrefix({ documents: all, whyBehind })
    const tokens = startTokenDirectory({ ...following, from, keyring, states, tokenIdByPrefix: findTokenId })
    const logins = startLoginDirectory({ ...following, from })
    const { unreachable, mongoSkewMs } = foundation.stores
    const isLogEmbedded = settings.eventstoreUrl === null
    const storeWatch = monitorStores({ ...following, unreachable, mongoSkewMs, isLogEmbedded })
    opened({
      stop: async () => {
        stopping.abort()
        await Promise.all([projector.stopped, directory.stopped, tokens.stopped, logins.stopped, storeWatch.stopped])
      },
    })
    await atMost(timers, CATCH_UP_MS, projector.caughtUp())
    const { whenProjected } = projector
    const listedUpTo = () =>
      projector.lag().find(({ projection }) => projection === liveTokens.name)?.position ?? BEGINNING
    const reading = { store, documents, keyring, states, credentials, environment, timers, listedUpTo }
    const withUnlisted = { ...reading, unlistedLive: unlistedLive(reading) }
    const lookups = { findListedToken: findListedToken(reading), findUnlistedLive: findUnlistedLive(reading) }
    const lives: LiveReads = {
      getLive: getLive(withUnlisted),
      listLives: listLives(reading),
      pageOfAllLives: pageOfAllLives(reading),
      liveIdsOf: liveIdsOf(reading),
      holderOfToken: holderOfToken(reading),
      resolveToken: shareLookups(resolveToken({ ...reading, ...lookups }), environment),
      factsOfLive: factsOfLive(withUnlisted),
    }
    const idsOf = tokenIdsOf(reading)
    return { projector, whenProjected, directory, tokens, logins, storeWatch, documents, lives, tokenIdsOf: idsOf }
  })
