import { startTokenDirectory } from '../../../application/tokens/policies/token-directory.ts'
import { startLoginDirectory } from '../../../application/users/policies/login-directory.ts'
import { startUserDirectory } from '../../../application/users/policies/user-directory.ts'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import { atMost } from '../../../application/waiting.ts'
import { foldingCode } from '../../../infrastructure/files/folding-code.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { tokenIdByPrefix, tokenIdsOf } from '../../../projections/api-tokens/queries.ts'
import { liveTokens } from '../../../projections/live-tokens/projection.ts'
import { catchingUpAfterStart, onceCurrent } from '../../../projections/once-current.ts'
import { startProjector } from '../../../projections/projector.ts'
import { assemble } from '../assemble.ts'
import { monitorStores } from '../store-watch.ts'
import { runStartStep } from '../start-step.ts'
import type { Foundation } from './foundation.ts'
import { liveReads } from './live-reads.ts'

export type ReadSide = Awaited<ReturnType<typeof startReadSide>>

/**
 * How long the start waits for the read models. After a restart they catch up within this time. Read models that are
 * rebuilt need longer: their routes respond with 503 until the rebuild ends.
 */
const CATCH_UP_MS = 4000

/**
 * Starts the read models, the directories of users, tokens and logins, and the watch over the event store. A directory
 * keeps the current state in memory.
 */
export const startReadSide = (foundation: Foundation) =>
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
    return {
      projector, whenProjected, directory, tokens, logins, storeWatch, documents,
      lives: liveReads({ store, documents, keyring, states, credentials, environment, timers, listedUpTo }),
      tokenIdsOf: tokenIdsOf({ documents }),
    }
  })
