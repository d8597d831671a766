import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { createTokenUses } from '../../../../application/tokens/policies/token-uses.ts'
import { startLogDuty } from '../../../../application/log/log-duty.ts'
import { createLoginThrottle, throttledName } from '../../../../application/users/login-throttle.ts'
import { createRequestLimits } from '../../../../interfaces/http/clients/request-limits.ts'
import { createTestCredentials } from '../../../support/doubles/credentials.ts'
import { silentLogger as logger } from '../../../support/doubles/loggers.ts'
import { immediateTimers } from '../../../support/doubles/immediate-timers.ts'
import { createMemoryDocuments } from '../../../support/doubles/memory/documents.ts'
import { createMemoryEventStore } from '../../../support/doubles/memory/event-store.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { advanceLive } from '../../../support/read-models/projector-processes.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { right } from '../../../support/tools/right.ts'
import { SINGLE_PROCESS_LEASES } from '../../../support/worlds/single-process-leases.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'
import { FAULTS, faultyClock, type FaultyClock } from './faulty-clock.ts'

/** Something that waits. */
interface Wait {
  /** In milliseconds. */
  readonly lasts: number
  readonly begin: () => Promise<void>
  readonly isOver: () => Promise<boolean>
}

const writeDepsOf = (clock: FaultyClock) => ({
  store: createMemoryEventStore(clock.storeNow),
  keyring: createMemoryKeyring(),
  environment: clock.environment,
  timers: immediateTimers,
})

/** This many wrong passwords for one name. `addressOf`: where the n-th attempt comes from. */
const wrongPasswords = (failures: number, addressOf: (n: number) => string) => (clock: FaultyClock): Wait => {
  const deps = { ...writeDepsOf(clock), logger, credentials: createTestCredentials(), enabled: true }
  const throttle = createLoginThrottle(deps)
  const attempt = async (address: string, found: O.Option<string>): Promise<boolean> =>
    E.isRight(await throttle(throttledName('ada', 0), address, async () => E.right(found)))
  return {
    lasts: 32_000,
    begin: async () => {
      for (let n = 0; n < failures; n += 1)
        while (!(await attempt(addressOf(n), O.none))) clock.advance(1000)
    },
    isOver: () => attempt(addressOf(failures - 1), O.some('in')),
  }
}

const idempotencyKey = async (clock: FaultyClock): Promise<Wait> => {
  const { createLiveOnce } = await createWriteSide(clock)
  const create = (listenerToken: string) => createLiveOnce(callerOf(1), requestOf({ listenerToken }), 'key')
  return {
    lasts: 24 * 3_600_000,
    begin: async () => void right(await create('hall')),
    isOver: async () => E.isRight(await create('another')),
  }
}

const tokenUse = (clock: FaultyClock): Wait => {
  const deps = writeDepsOf(clock)
  const uses = createTokenUses({ ...deps, logger })
  const token = { tokenId: 4, userId: 3, prefix: '', secretHash: '', isActive: true, expiresAt: null }
  const use = async (): Promise<number> => {
    uses.record(token)
    await uses.settled()
    return deps.store.allEvents().length
  }
  let recorded = 0
  return {
    lasts: 60_000,
    begin: async () => { recorded = await use() },
    isOver: async () => await use() > recorded,
  }
}

const requestLimit = (clock: FaultyClock): Wait => {
  const { take } = createRequestLimits(clock.environment, 50)
  return {
    lasts: 20,
    begin: async () => { while (E.isRight(take('ada'))); },
    isOver: async () => E.isRight(take('ada')),
  }
}

/** A duty whose first attempt fails. */
const retry = (clock: FaultyClock): Wait => {
  const { store, environment } = writeDepsOf(clock)
  let [attempts, isDone] = [0, false]
  const deps = { store, environment, logger, timers: clock.timers, leases: SINGLE_PROCESS_LEASES }
  startLogDuty({ ...deps, documents: createMemoryDocuments() }, {
    name: 'chore', prefixes: ['live-'], concerns: () => true, failure: 'not done',
    perform: async () => {
      attempts += 1
      if (attempts === 1) throw new Error('simulated')
      isDone = true
    },
  })
  return {
    lasts: 375,
    begin: async () => {
      await advanceLive(store, 1)
      await eventually(() => { if (attempts !== 1 || clock.timers.size() === 0) throw new Error('nothing waits') })
    },
    isOver: async () => {
      for (let turn = 0; turn < 20; turn += 1) await setImmediate()
      return isDone
    },
  }
}

const WAITS = {
  'after wrong passwords from one network': wrongPasswords(10, () => '192.0.2.1'),
  'after wrong passwords from many networks': wrongPasswords(25, (n) => `192.0.2.${n}`),
  'until an Idempotency-Key is free': idempotencyKey,
  'until a use of an API token is recorded again': tokenUse,
  'after too many requests': requestLimit,
  'until failed work is tried again': retry,
}

for (const [name, waitWith] of Object.entries(WAITS))
  for (const { fault, wrongBy, isSetRight } of FAULTS) {
    test(`the wait ${name} stays the same when ${fault} meanwhile`, async (t) => {
      const clock = faultyClock()
      const wait = await waitWith(clock)
      await wait.begin()
      clock.set(wrongBy)
      t.false(await wait.isOver(), 'not shorter')
      clock.advance(wait.lasts - 1)
      if (isSetRight) clock.set(0)
      t.false(await wait.isOver(), 'not shorter at its end')
      clock.advance(1)
      t.true(await wait.isOver(), 'not longer')
    })
    test(`the wait ${name} stays the same when it begins while ${fault}`, async (t) => {
      const clock = faultyClock()
      const wait = await waitWith(clock)
      clock.set(wrongBy)
      await wait.begin()
      if (isSetRight) clock.set(0)
      t.false(await wait.isOver(), 'not shorter')
      clock.advance(wait.lasts - 1)
      t.false(await wait.isOver(), 'not shorter at its end')
      clock.advance(1)
      t.true(await wait.isOver(), 'not longer')
    })
  }
