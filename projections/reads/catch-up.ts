import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore, Position } from '../../application/ports/event-store.ts'
import { shareOf } from '../share-of.ts'
import { type List, namesOf } from './list.ts'

interface CatchUpDeps {
  readonly store: Pick<EventStore, 'head'>
  readonly logger: Pick<Logger, 'info'>
  readonly environment: Pick<Environment, 'monotonic'>
  readonly lists: () => ReadonlyArray<List>
}

/** Milliseconds between two lines in the log. */
const TOLD_EVERY_MS = 10_000

/** Reports how far lists are that have an old log to read. */
export const createCatchUp = async ({ store, logger, environment, lists }: CatchUpDeps) => {
  const head = await store.head()
  const end = E.isRight(head) ? head.right : ('' as Position)
  let toldAt: number | null = null

  const reportAll = (share: number | null): void => {
    for (const { report } of lists()) report.catchingUp(share)
  }
  const reached = (position: Position): void => {
    const share = shareOf(position, end)
    reportAll(share)
    if (share === null || (toldAt !== null && environment.monotonic() - toldAt < TOLD_EVERY_MS)) return
    toldAt = environment.monotonic()
    logger.info({ projections: namesOf(lists()), percent: Math.floor(100 * share) }, 'lists are built from the log')
  }
  return {
    /** The documents have reached this position, and many events are still to be read. */
    reached,
    /** The documents have reached the end of the log. */
    done: (): void => {
      if (toldAt === null) return
      toldAt = null
      reportAll(null)
      logger.info({ projections: namesOf(lists()) }, 'lists are complete')
    },
  }
}
