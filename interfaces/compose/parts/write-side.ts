import { totalmem } from 'node:os'
import { openAdmission } from '../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import { offeringOf, offersOf } from '../../../application/admission/offers.ts'
import { openSwitchedCatalogue } from '../../../application/catalogue/switched-catalogue.ts'
import type { Worker } from '../../../application/lives/terms/worker.ts'
import { chooseProvider } from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { readGpus } from '../../../infrastructure/onnx/providers/gpus.ts'
import { hasServers } from '../../../infrastructure/settings.ts'
import type { Settings } from '../../../infrastructure/settings.ts'
import { assemble } from '../assemble.ts'
import { succeed, succeedUnlessHurt } from '../succeed.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'

/** A driver, and what runs beside sessions, need the rest of a GPU's memory. */
const SHARE_OF_GPU = 0.9

/** Of the GPU that models run on, of several the smallest; where there is none, or nobody tells, half of the machine's memory. */
const detectVram = async (): Promise<number> => {
  const gpus = await readGpus()
  const isUsed = gpus.length > 0 && (await chooseProvider()).provider !== 'cpu'
  return isUsed ? Math.floor(SHARE_OF_GPU * Math.min(...gpus.map(({ memory }) => memory))) : Math.floor(totalmem() / 2 ** 20 / 2)
}

/** Megabytes that this worker gives out. */
const vramOf = async ({ vramMb }: Pick<Settings, 'vramMb'>): Promise<number> => vramMb ?? (await detectVram())

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
    const vram = own === null ? 0 : await vramOf(settings)
    if (own !== null) {
      // Lives that wait are given to those who offer what they need.
      members.announce({ offers: offersOf(own) })
      await succeedUnlessHurt('join the workers', joinWorker({ admission, environment }, self, vram))
    }
    const hasJoined = admission.state().workers.some(({ incarnation }) => incarnation === self.incarnation)
    const worker: Worker = { name: self.name, incarnation: own === null || hasJoined ? self.incarnation : null }
    return { write, switched, admission, worker, vram, isShared }
  })
