import { totalmem } from 'node:os'
import { createAdmissionActor } from '../../../application/admission/admission-actor.ts'
import { openSwitchedCatalogue } from '../../../application/catalogue/switched-catalogue.ts'
import { originOf } from '../../../application/log/origin.ts'
import { assemble } from '../assemble.ts'
import { succeed, succeedUnlessHurt } from '../succeed.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'

/** The only worker there is while one process does everything (ROLE all). */
const WORKER = 'local'

/** Half of the machine's memory where no GPU is used. */
const detectVram = (): number => Math.floor(totalmem() / 2 ** 20 / 2)

export type WriteSide = Awaited<ReturnType<typeof openWriteSide>>

/** What decides: admissions, and what administrators have switched off. */
export const openWriteSide = ({ settings, store, keyring, environment, timers, logger }: Foundation, { installed }: Engines) =>
  assemble(async (opened) => {
    const write = { store, keyring, environment, timers }
    const switched = await succeed('read what is switched off', openSwitchedCatalogue(write, installed))
    const admission = await createAdmissionActor({ ...write, logger })
    opened({ stop: admission.idle })
    const capacity = { type: 'SetCapacity', worker: WORKER, vram: settings.vramMb ?? detectVram(), at: environment.now() } as const
    await succeedUnlessHurt('set the capacity', admission.send({ command: capacity, ...originOf(write, 'service') }))
    return { write, switched, admission, worker: WORKER }
  })
