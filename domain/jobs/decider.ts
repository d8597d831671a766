import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import type { JobEnded, JobEvent, JobKind, JobStarted } from './events.ts'

/** Running jobs by id. */
export type RunningJobs = ReadonlyMap<number, JobKind>

export type JobCommand =
  | { readonly type: 'Start'; readonly data: EventOf<typeof JobStarted>['data'] }
  | { readonly type: 'End'; readonly data: EventOf<typeof JobEnded>['data'] }

/** A job of the same kind is still running. */
export interface KindRunning {
  readonly _tag: 'KindRunning'
}

/** Only one job of each kind runs at a time. Ending an ended job changes nothing. */
export const jobsDecider: Decider<RunningJobs, JobCommand, JobEvent, KindRunning> = {
  initialState: new Map(),
  evolve: (running, { type, data }) => {
    if (type === 'JobStarted') return new Map([...running, [data.jobId, data.kind]])
    return new Map([...running].filter(([jobId]) => jobId !== data.jobId))
  },
  decide: (command, running) => {
    if (command.type === 'End')
      return E.right(running.has(command.data.jobId) ? [{ type: 'JobEnded', data: command.data }] : [])
    if ([...running.values()].includes(command.data.kind)) return E.left({ _tag: 'KindRunning' })
    return E.right([{ type: 'JobStarted', data: command.data }])
  },
}
