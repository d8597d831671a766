import * as E from 'fp-ts/lib/Either.js'
import { decideBy, type DeciderByCommand } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import type { JobEnded, JobEvent, JobKind, JobStarted } from './events.ts'

export type RunningJobs = ReadonlyMap<number, JobKind>

export type JobCommand =
  | { readonly type: 'Start'; readonly data: EventOf<typeof JobStarted>['data'] }
  | { readonly type: 'End'; readonly data: EventOf<typeof JobEnded>['data'] }

export interface KindRunning {
  readonly _tag: 'KindRunning'
}

export interface JobRefusals {
  readonly Start: KindRunning
  readonly End: never
}

/** Only one job of each kind runs at a time. Ending an ended job changes nothing. */
export const jobsDecider: DeciderByCommand<RunningJobs, JobCommand, JobEvent, JobRefusals> = {
  initialState: new Map(),
  evolve: (running, { type, data }) => {
    if (type === 'JobStarted') return new Map([...running, [data.jobId, data.kind]])
    return new Map([...running].filter(([jobId]) => jobId !== data.jobId))
  },
  decide: decideBy({
    Start: ({ data }, running) =>
      [...running.values()].includes(data.kind)
        ? E.left({ _tag: 'KindRunning' })
        : E.right([{ type: 'JobStarted', data }]),
    End: ({ data }, running) =>
      E.right(running.has(data.jobId) ? [{ type: 'JobEnded', data }] : []),
  }),
}
