import type { Stamped } from '../../../../domain/shared/decider.ts'
import type { AdmissionCommand } from '../../../../domain/admission/decider.ts'
import type { AdmissionEvent, Admitted, WorkerLeft } from '../../../../domain/admission/events.ts'
import type { Reservation } from '../../../../domain/admission/state.ts'
import type { EventOf } from '../../../../domain/shared/event.ts'
import { after } from '../../../support/events/sample-events.ts'

export const at = after(1000)

export type AdmittedData = EventOf<typeof Admitted>['data']
type LeaveReason = EventOf<typeof WorkerLeft>['data']['reason']

/** The event with which an older version registered a worker. */
export const capacity = (worker: string, vram: number): AdmissionEvent => ({
  type: 'CapacitySet',
  data: { worker, vram, at: after(0) },
})
export const joined = (worker: string, vram: number, incarnation = 'first', when = after(0)): AdmissionEvent =>
  ({ type: 'WorkerJoined', data: { worker, incarnation, vram, at: when } })
export const restarted = (
  worker: string,
  vram: number,
  waiting: ReadonlyArray<number> = [],
  incarnation = 'second',
): AdmissionEvent => ({ type: 'WorkerRestarted', data: { worker, incarnation, vram, waiting, at } })
export const draining = (worker: string): AdmissionEvent => ({
  type: 'WorkerDraining',
  data: { worker, incarnation: 'first', at },
})
export const left = (
  worker: string,
  reason: LeaveReason = 'lost',
  incarnation: string | null = 'first',
): AdmissionEvent => ({ type: 'WorkerLeft', data: { worker, incarnation, reason, at } })
export const moved = (liveId: number, worker: string, term = 2): AdmissionEvent =>
  ({ type: 'Moved', data: { liveId, worker, term, at } })

const admittedData = (liveId: number, changes: Partial<AdmittedData> = {}): AdmittedData => ({
  liveId,
  userId: 3,
  worker: 'gpu-0',
  vram: 1000,
  needs: ['tiny'],
  instance: 'api-1',
  commandId: `create-${liveId}`,
  at,
  ...changes,
})
export const admitted = (liveId: number, changes: Partial<AdmittedData> = {}): AdmissionEvent => ({
  type: 'Admitted', data: admittedData(liveId, changes),
})
export const reservation = (liveId: number, changes: Partial<Reservation> = {}): Reservation => {
  const { commandId: _, ...held } = admittedData(liveId)
  return { ...held, term: 1, ...changes }
}
export const released = (liveId: number, when = at): AdmissionEvent => ({
  type: 'Released',
  data: { liveId, at: when },
})

const candidates = ['gpu-0', 'gpu-1', 'gpu-2'].map((worker) => ({ worker, rank: 0 }))
/** A create command of user 3 for 1,000 MB that would become session `liveId`. */
export const admit = (
  liveId: number,
  changes: Partial<Extract<Stamped<AdmissionCommand>, { type: 'Admit' }>> = {},
): Stamped<AdmissionCommand> => ({
  type: 'Admit',
  commandId: `create-${liveId}`,
  userId: 3,
  vram: 1000,
  needs: ['tiny'],
  candidates,
  maxSessions: 10,
  instance: 'api-1',
  at,
  ...changes,
})
export const join = (
  worker: string, vram: number, incarnation = 'second', knowsRestart = true,
): Stamped<AdmissionCommand> =>
  ({ type: 'Join', worker, incarnation, vram, knowsRestart, at })
export const leave = (worker: string, incarnation: string | null = 'first'): Stamped<AdmissionCommand> =>
  ({ type: 'Leave', worker, incarnation, reason: 'lost', at })
export const move = (liveId: number, term: number, to: string | null = null): Stamped<AdmissionCommand> =>
  ({ type: 'Move', liveId, term, to, at })
