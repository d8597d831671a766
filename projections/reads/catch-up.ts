import * as E from 'fp-ts/lib/Either.js'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { EventStore, Position } from '../../application/ports/event-store.ts'
import { shareOf } from '../share-of.ts'
import { namesOf } from './list.ts'
import type { List } from './list.ts'

interface CatchUpDeps {
  readonly store: Pick<EventStore, 'head'>
  readonly logger: Pick<Logger, 'info'>
  readonly environment: Pick<Environment, 'monotonic'>
  readonly lists: () => ReadonlyArray<List>
}

/** Milliseconds between two lines in the log. */
const TOLD_EVERY_MS = 10_000

const percent = (share: number): number => Math.floor(100 * share)

/** Reports how far lists are that have an old log to read. */
export const createCatchUp = async ({ store, logger, environment, lists }: CatchUpDeps) => {
  const head = await store.head()()
  const end = E.isRight(head) ? head.right : ('' as Position)
  let toldAt: number | null = null

  const tell = (share: number): void => {
    if (toldAt !== null && environment.monotonic() - toldAt < TOLD_EVERY_MS) return
    toldAt = environment.monotonic()
    logger.info({ projections: namesOf(lists()), percent: percent(share) }, 'lists are built from the log')
  }
  return {
    /** Call it for each batch. `reached`: position of the documents. `isLast`: hardly any event is left to read. */
    batch: (reached: Position, isLast: boolean): void => {
      const share = isLast ? null : shareOf(reached, end)
      for (const { report } of lists()) report.catchingUp(share)
      if (share !== null) tell(share)
      else if (isLast && toldAt !== null) {
        toldAt = null
        logger.info({ projections: namesOf(lists()) }, 'lists are up to date')
      }
    },
  }
}
