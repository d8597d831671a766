import { totalmem } from 'node:os'
import { openAdmission } from '../../../application/admission/admission-actor.ts'
import { joinWorker } from '../../../application/admission/join-worker.ts'
import { openSwitchedCatalogue } from '../../../application/catalogue/switched-catalogue.ts'
import type { Worker } from '../../../application/lives/terms/worker.ts'
import { assemble } from '../assemble.ts'
import { succeed, succeedUnlessHurt } from '../succeed.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'

/** Half of the machine's memory where no GPU is used. */
const detectVram = (): number => Math.floor(totalmem() / 2 ** 20 / 2)

export type WriteSide = Awaited<ReturnType<typeof openWriteSide>>

/** What decides: admissions, and what administrators have switched off. */
export const openWriteSide = (foundation: Foundation, { installed }: Engines) =>
  assemble(async (opened) => {
    const { settings, self, store, keyring, environment, timers, logger } = foundation
    const write = { store, keyring, environment, timers }
    const stopping = new AbortController()
    const following = { ...write, logger, signal: stopping.signal }
    const switched = await succeed('read what is switched off', openSwitchedCatalogue(following, installed))
    opened({
      stop: async () => {
        stopping.abort()
        await switched.stopped
      },
    })
    const admission = await succeed('read the admissions', openAdmission({ ...write, logger }))
    opened({ stop: admission.idle })
    const joining = joinWorker({ admission, environment }, self, settings.vramMb ?? detectVram())
    await succeedUnlessHurt('join the workers', joining)
    const hasJoined = admission.state().workers.some(({ incarnation }) => incarnation === self.incarnation)
    const worker: Worker = { name: self.name, incarnation: hasJoined ? self.incarnation : null }
    return { write, switched, admission, worker }
  })
