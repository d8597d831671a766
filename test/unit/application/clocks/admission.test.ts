import test from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import { createAdmissionActor } from '../../../../application/admission/admission-actor.ts'
import { liveIdOfCommand } from '../../../../domain/admission/state.ts'
import { silentLogger as logger } from '../../../support/doubles/loggers.ts'
import { immediateTimers as timers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'
import { admitCommand, setCapacity } from '../../../support/worlds/write-side.ts'
import { FAULTS, faultyClock } from './faulty-clock.ts'

for (const { fault, wrongBy } of FAULTS)
  test(`create commands are remembered for ten minutes when ${fault} at another process`, async (t) => {
    const [clock, wrong] = [faultyClock(), faultyClock()]
    wrong.set(wrongBy)
    const [store, keyring] = [createMemoryEventStore(clock.storeNow), createMemoryKeyring()]
    const start = ({ environment }: typeof clock) =>
      createAdmissionActor({ store, keyring, environment, timers, logger })
    const [actor, other] = [await start(clock), await start(wrong)]
    await setCapacity(actor, clock.environment, 100)
    const admit = async (to: typeof actor, commandId: string) => {
      const command = admitCommand({ commandId, instance: 'here' })
      return right(await to.send({ command, commandId, correlationId: 'c', actor: 'service' }))
    }
    const remembered = async (): Promise<ReadonlyArray<boolean>> => {
      const state = right(await actor.refresh())
      return ['first', 'second'].map((id) => O.isSome(liveIdOfCommand(state, id)))
    }
    await admit(actor, 'first')
    await admit(other, 'second')
    t.deepEqual(await remembered(), [true, true])
    clock.advance(600_000)
    await admit(other, 'third')
    t.deepEqual(await remembered(), [true, true])
    clock.advance(1)
    await admit(actor, 'fourth')
    t.deepEqual(await remembered(), [false, false])
  })
