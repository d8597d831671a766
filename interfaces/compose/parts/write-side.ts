import { openAdmission } from '../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import { offeringOf, offersOf } from '../../../application/admission/offers.ts'
import { openSwitchedCatalogue } from '../../../application/catalogue/switched-catalogue.ts'
import type { Worker } from '../../../application/lives/terms/worker.ts'
import { hasServers } from '../../../infrastructure/settings.ts'
import { FORMAT } from '../../../infrastructure/stores/format.ts'
import { assemble } from '../assemble.ts'
import { runStartStep, runStartStepUnlessDamaged } from '../start-step.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'

export type WriteSide = Awaited<ReturnType<typeof openWriteSide>>

/** Opens the write side: admission of sessions, and the models, languages and pairs that are switched off. */
export const openWriteSide = (foundation: Foundation, engines: Engines) =>
  assemble(async (opened) => {
    const { settings, self, store, keyring, environment, timers, states, logger } = foundation
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
    const isShared = hasServers(settings)
    const offering = isShared ? { offering: () => offeringOf(members.all()) } : {}
    const admission = await runStartStep('read the admissions', () => openAdmission({ ...write, logger, ...offering }))
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
    const worker: Worker = { name: self.name, incarnation: own === null || hasJoined ? self.incarnation : null }
    return { write, switched, admission, worker, vram, isShared }
  })
