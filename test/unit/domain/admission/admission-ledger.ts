import type { AdmissionEvent, WorkerRestarted } from '../../../../domain/admission/events.ts'
import { canRun, type Offering } from '../../../../domain/admission/placement.ts'
import type { EventOf } from '../../../../domain/shared/event.ts'

export const WORKERS = ['gpu-0', 'gpu-1', 'gpu-2']

export const ensure = (holds: boolean, message: string): void => {
  if (!holds) throw new Error(message)
}

/** The reservations, computed from the events independently of the decider. */
interface Ledger {
  readonly workers: Map<string, { readonly vram: number; readonly isDraining: boolean }>
  /** In order of waiting: sessions that lost their worker move to the end. */
  readonly held: Map<
    number,
    {
      readonly worker: string | null
      readonly userId: number
      readonly vram: number
      readonly term: number
      readonly needs: ReadonlyArray<string> | null
    }
  >
}

export const newLedger = (): Ledger => ({ workers: new Map(), held: new Map() })
export const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)
const heldOn = (ledger: Ledger, worker: string): number =>
  sum([...ledger.held.values()].filter((entry) => entry.worker === worker).map((entry) => entry.vram))
const capacityOf = (ledger: Ledger, worker: string): number => ledger.workers.get(worker)?.vram ?? 0
export const freeOn = (ledger: Ledger, among: ReadonlyArray<string> = WORKERS): ReadonlyArray<number> =>
  [...ledger.workers].flatMap(([worker, { vram, isDraining }]) =>
    isDraining || !among.includes(worker) ? [] : [vram - heldOn(ledger, worker)],
  )
export const sessionsOf = (ledger: Ledger, userId: number): number =>
  [...ledger.held.values()].filter((entry) => entry.userId === userId).length

const workersFor = (needs: ReadonlyArray<string> | null, offering: Offering | undefined): ReadonlyArray<string> =>
  WORKERS.filter((worker) => canRun(offering, worker, needs))

/** Throws when a session that waits longer than `liveId` would fit a worker now. */
const ensureNobodyWaitsLonger = (ledger: Ledger, liveId: number, offering: Offering | undefined): void => {
  for (const [waitingId, { worker, vram, needs }] of ledger.held) {
    if (waitingId === liveId) return
    ensure(
      worker !== null || Math.max(-1, ...freeOn(ledger, workersFor(needs, offering))) < vram,
      `session ${waitingId} waits longer than session ${liveId}`,
    )
  }
}

const recordRestart = (
  ledger: Ledger,
  { worker, vram, waiting }: EventOf<typeof WorkerRestarted>['data'],
  offering: Offering | undefined,
): void => {
  ensure(ledger.workers.has(worker), `${worker} restarted but had not joined`)
  ledger.workers.set(worker, { vram, isDraining: false })
  for (const [liveId, entry] of [...ledger.held].filter(([, held]) => held.worker === worker)) {
    const isKept = !waiting.includes(liveId)
    if (!isKept) ledger.held.delete(liveId)
    ensure(!isKept || workersFor(entry.needs, offering).includes(worker), `${worker} kept session ${liveId}`)
    ledger.held.set(liveId, isKept ? { ...entry, term: entry.term + 1 } : { ...entry, worker: null })
  }
}

export const record = (ledger: Ledger, event: AdmissionEvent, offering?: Offering): void => {
  switch (event.type) {
    case 'LiveIdsSkipped':
      break
    case 'CapacitySet':
    case 'WorkerJoined':
      ledger.workers.set(event.data.worker, { vram: event.data.vram, isDraining: false })
      break
    case 'WorkerDraining':
      ledger.workers.set(event.data.worker, { vram: capacityOf(ledger, event.data.worker), isDraining: true })
      break
    case 'WorkerLeft': {
      ensure(ledger.workers.delete(event.data.worker), `${event.data.worker} left twice`)
      const entries = [...ledger.held].filter(([, { worker }]) => worker === event.data.worker)
      for (const [liveId] of entries) ledger.held.delete(liveId)
      for (const [liveId, entry] of entries) ledger.held.set(liveId, { ...entry, worker: null })
      break
    }
    case 'WorkerRestarted':
      recordRestart(ledger, event.data, offering)
      break
    case 'Admitted':
      ledger.held.set(event.data.liveId, { ...event.data, term: 1 })
      break
    case 'Moved': {
      const { liveId, worker, term } = event.data
      const before = ledger.held.get(liveId)
      if (before === undefined) throw new Error(`session ${liveId} was moved without a reservation`)
      ensure(term === before.term + 1, `session ${liveId} went from term ${before.term} to ${term}`)
      if (before.worker === null) ensureNobodyWaitsLonger(ledger, liveId, offering)
      ensure(
        workersFor(before.needs, offering).includes(worker),
        `${worker} lacks a model that session ${liveId} needs`,
      )
      ledger.held.set(liveId, { ...before, worker, term })
      break
    }
    case 'Released':
      ensure(ledger.held.delete(event.data.liveId), `session ${event.data.liveId} was released without a reservation`)
  }
}

export const ensureFits = (ledger: Ledger, event: AdmissionEvent): void => {
  if (event.type !== 'Admitted' && event.type !== 'Moved' && event.type !== 'WorkerRestarted') return
  const { worker } = event.data
  ensure(ledger.workers.get(worker)?.isDraining === false, `${worker} accepts no sessions`)
  ensure(heldOn(ledger, worker) <= capacityOf(ledger, worker), `${worker} is over its capacity`)
}
