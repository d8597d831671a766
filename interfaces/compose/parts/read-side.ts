import { startTokenDirectory } from '../../../application/tokens/policies/token-directory.ts'
import { startUserDirectory } from '../../../application/users/policies/user-directory.ts'
import { foldingCode } from '../../../infrastructure/files/folding-code.ts'
import { allProjections } from '../../../projections/all-projections.ts'
import { startProjector } from '../../../projections/projector.ts'
import { tokenIdsOf } from '../../../projections/api-tokens/queries.ts'
import { assemble } from '../assemble.ts'
import { watchStore } from '../store-watch.ts'
import type { Foundation } from './foundation.ts'
import { liveReads } from './live-reads.ts'

export type ReadSide = Awaited<ReturnType<typeof startReadSide>>

/** What follows the log to answer from: the read models, and who is asking, in memory. */
export const startReadSide = ({ store, documents, keyring, credentials, environment, timers, logger }: Foundation) =>
  assemble(async (opened) => {
    const code = await foldingCode()
    const stopping = new AbortController()
    const following = { store, logger, environment, timers, signal: stopping.signal }
    const projector = startProjector({ ...following, documents, projections: allProjections, code })
    const directory = startUserDirectory({ ...following, keyring })
    const tokens = startTokenDirectory(following)
    const storeWatch = watchStore(following)
    opened({
      stop: async () => {
        stopping.abort()
        await Promise.all([projector.stopped, directory.stopped, tokens.stopped, storeWatch.stopped])
      },
    })
    await Promise.all([projector.caughtUp(), directory.ready(), tokens.ready()])
    const { whenProjected } = projector
    return {
      projector, whenProjected, directory, tokens, storeWatch,
      lives: liveReads({ documents, keyring, credentials }),
      tokenIdsOf: tokenIdsOf({ documents }),
    }
  })
