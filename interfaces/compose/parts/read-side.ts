import { startTokenDirectory } from '../../../application/tokens/policies/token-directory.ts'
import { startLoginDirectory } from '../../../application/users/policies/login-directory.ts'
import { startUserDirectory } from '../../../application/users/policies/user-directory.ts'
import { atMost } from '../../../application/waiting.ts'
import { foldingCode } from '../../../infrastructure/files/folding-code.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { tokenIdByPrefix, tokenIdsOf } from '../../../projections/api-tokens/queries.ts'
import { catchingUpAfterStart, onceCurrent } from '../../../projections/once-current.ts'
import { startProjector } from '../../../projections/projector.ts'
import { assemble } from '../assemble.ts'
import { watchStore } from '../store-watch.ts'
import { succeed } from '../succeed.ts'
import type { Foundation } from './foundation.ts'
import { liveReads } from './live-reads.ts'

export type ReadSide = Awaited<ReturnType<typeof startReadSide>>

/** Read models that a stop left are at the end of the log by then; those that are made anew answer 503 for longer. */
const CATCH_UP_MS = 4000

/** What answers: the read models, which follow the log, and who is asking. */
export const startReadSide = (foundation: Foundation) =>
  assemble(async (opened) => {
    const { settings, store, documents: all, keyring, credentials, environment, timers, logger } = foundation
    const leases = settings.role.includes('projector') ? foundation.leases : null
    const code = await foldingCode()
    // Before the projector: what it has caught up with is all that the directories do not hear of.
    const from = await succeed('read the head of the log', store.head())
    const stopping = new AbortController()
    const following = { store, logger, environment, timers, signal: stopping.signal }
    const projector = startProjector({ ...following, documents: all, projections: allProjections, code, leases })
    const isBehind = catchingUpAfterStart(allProjections, projector)
    const documents = onceCurrent(all, isBehind)
    const directory = startUserDirectory({ ...following, from, keyring })
    const tokens = startTokenDirectory({ ...following, from, tokenIdByPrefix: tokenIdByPrefix({ documents: all, isBehind }) })
    const logins = startLoginDirectory({ ...following, from })
    const storeWatch = watchStore(following)
    opened({
      stop: async () => {
        stopping.abort()
        await Promise.all([projector.stopped, directory.stopped, tokens.stopped, logins.stopped, storeWatch.stopped])
      },
    })
    await atMost(timers, CATCH_UP_MS, projector.caughtUp())
    const { whenProjected } = projector
    return {
      projector, whenProjected, directory, tokens, logins, storeWatch, documents,
      lives: liveReads({ documents, keyring, credentials }),
      tokenIdsOf: tokenIdsOf({ documents }),
    }
  })
