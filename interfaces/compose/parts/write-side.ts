import { openAdmission } from '../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import { offeringOf, offersOf } from '../../../application/admission/offers.ts'
import { openSwitchedCatalogue } from '../../../application/catalogue/switched-catalogue.ts'
import type { Worker } from '../../../application/lives/terms/worker.ts'
import { hasServers } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import { succeed, succeedUnlessHurt } from '../succeed.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'

export type WriteSide = Awaited<ReturnType<typeof openWriteSide>>

/** What decides: admissions, and what administrators have switched off. */
export const openWriteSide = (foundation: Foundation, engines: Engines) =>
  assemble(async (opened) => {
    const { settings, self, store, keyring, environment, timers, logger } = foundation
    const write = { store, keyring, environment, timers }
    const stopping = new AbortController()
    const following = { ...write, logger, signal: stopping.signal }
    const switched = await succeed('read what is switched off', openSwitchedCatalogue(following, engines.catalogue))
    opened({
      stop: async () => {
        stopping.abort()
        await switched.stopped
      },
    })
    const { members } = foundation.stores
    const isShared = hasServers(settings)
    const offering = isShared ? { offering: () => offeringOf(members.all()) } : {}
    const admission = await succeed('read the admissions', openAdmission({ ...write, logger, ...offering }))
    opened({ stop: admission.idle })
    const { own } = engines
    const vram = own?.pool.vram ?? 0
    if (own !== null) {
      // Lives that wait are given to those who offer what they need.
      members.announce({ offers: offersOf({ ...own, engine: own.pool.whole, engines: own.pool.rooms }) })
      await succeedUnlessHurt('join the workers', joinWorker({ admission, environment }, self, vram))
    }
    const hasJoined = admission.state().workers.some(({ incarnation }) => incarnation === self.incarnation)
    const worker: Worker = { name: self.name, incarnation: own === null || hasJoined ? self.incarnation : null }
    return { write, switched, admission, worker, vram, isShared }
  })
