import { type AdmissionActor, openAdmission } from '../../application/admission/admission-actor.ts'
import { joinWorker } from '../../application/admission/join-worker.ts'
import { offersOf } from '../../application/admission/offers.ts'
import { openSwitchedCatalogue, type SwitchedCatalogue } from '../../application/catalogue/switched-catalogue.ts'
import type { WorkerRun } from '../../application/lives/ownership/own-sessions.ts'
import type { WriteDeps } from '../../application/log/handle-command.ts'
import type { Offering } from '../../domain/admission/placement.ts'
import { FORMAT } from '../../infrastructure/store-rules/format.ts'
import { assemble, type Part } from './assemble.ts'
import { runStartStep, runStartStepUnlessDamaged } from './start-step.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'

/** What commands need: the log, the admissions, and the models that administrators have not switched off. */
export interface WriteSide {
  readonly write: WriteDeps
  readonly switched: SwitchedCatalogue
  readonly admission: AdmissionActor
  /** This process, as the log names it. */
  readonly worker: WorkerRun
  /** Megabytes of this process. 0 without the role `worker`. */
  readonly vram: number
}

/**
 * Opens the write side. A worker joins the admissions here. `offering` returns the models of all workers. Absent: this
 * process is the only worker.
 */
export const openWriteSide = (
  foundation: Foundation, engines: Engines, offering?: () => Offering,
): Promise<WriteSide & Part> =>
  assemble(async (opened) => {
    const { self, store, keyring, environment, timers, states, logger } = foundation
    const write = { store, keyring, environment, timers, states }
    const stopping = new AbortController()
    const following = { ...write, logger, signal: stopping.signal }
    const opening = () => openSwitchedCatalogue(following, engines.catalogue)
    const switched = await runStartStep('read the switched-off models', opening)
    opened({
      stop: async () => {
        stopping.abort()
        await switched.stopped
      },
    })
    const { members } = foundation.stores
    const admitting = { ...write, logger, ...(offering && { offering }) }
    const admission = await runStartStep('read the admissions', () => openAdmission(admitting))
    opened({ stop: admission.idle })
    const { own } = engines
    const vram = own?.pool.vram ?? 0
    if (own !== null) {
      // Offers are the models that this worker can run. They are announced first: as soon as the worker joins, waiting
      // sessions are assigned to workers that offer their models.
      members.announce({ offers: offersOf({ ...own, engine: own.pool.whole, engines: own.pool.loads }) })
      const knowsRestart = () => members.all().every(({ speaks }) => speaks.log >= FORMAT)
      const joining = () => joinWorker({ admission, environment, knowsRestart }, self, vram)
      await runStartStepUnlessDamaged('register this worker', joining)
    }
    const hasJoined = admission.state().workers.some(({ incarnation }) => incarnation === self.incarnation)
    const worker: WorkerRun = { name: self.name, incarnation: own === null || hasJoined ? self.incarnation : null }
    return { write, switched, admission, worker, vram }
  })
