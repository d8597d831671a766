import type { Outage } from '../../application/outages.ts'
import type { Checkpoint } from '../../application/ports/documents.ts'
import type { Reporter } from '../progress/progress.ts'
import type { Projection } from '../projection.ts'

/** A read model that this process updates. */
export interface List {
  readonly projection: Projection
  /** Token of the lease. The documents refuse writes with an older token (fencing). */
  readonly token: number
  readonly report: Reporter
  readonly outage: Outage
  /** All events up to this one are in the documents. The stored checkpoint may be a little older. */
  applied: Checkpoint
}

export const namesOf = (lists: ReadonlyArray<List>): ReadonlyArray<string> =>
  lists.map(({ projection }) => projection.name)

export const describe = (error: unknown): string => {
  if (typeof error === 'string') return error
  if (error instanceof Error)
    return error.cause === undefined ? error.message : `${error.message}: ${describe(error.cause)}`
  const reason = typeof error === 'object' && error !== null && 'reason' in error ? error.reason : null
  return typeof reason === 'string' ? reason : JSON.stringify(error)
}

/** Reports a failure of a list. The log names each cause once. */
export const reportFailure = ({ projection, report, outage }: List, error: unknown): void => {
  const reason = describe(error)
  report.failing(reason)
  outage.failed(reason, { projection: projection.name })
}

export const reportSuccess = ({ projection, report, outage }: List): void => {
  report.succeeding()
  outage.ended({ projection: projection.name })
}
