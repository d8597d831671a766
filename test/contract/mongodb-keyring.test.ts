import { randomBytes } from 'node:crypto'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { followErasures } from '../../infrastructure/keys/follow-erasures.ts'
import { erasedLately, openMongoKeyring } from '../../infrastructure/mongodb/keyring.ts'
import { systemTimers } from '../../infrastructure/process/system-timers.ts'
import { eventually } from '../support/tools/eventually.ts'
import { sealedMembers, plainMembers } from '../support/events/sealed-texts.ts'
import { createRecordingLogger } from '../support/doubles/loggers.ts'
import { right } from './event-store-support.ts'
import { keyringContract } from './keyring.contract.ts'
import { onEveryMongo } from './mongodb-support.ts'

/** Runs `work` while the clock of this process is an hour slow. */
const withSlowClock = async (work: () => Promise<unknown>): Promise<void> => {
  const { Date: real } = globalThis
  class SlowDate extends real {
    constructor(...parts: ReadonlyArray<string | number>) {
      super(...((parts.length === 0 ? [real.now() - 3_600_000] : parts) as []))
    }
    static override now = (): number => real.now() - 3_600_000
  }
  globalThis.Date = SlowDate as DateConstructor
  try {
    await work()
  } finally {
    globalThis.Date = real
  }
}

onEveryMongo((name, open) => {
  keyringContract(name, async () => {
    const { connection, close } = await open()
    return { keyring: await openMongoKeyring(connection, randomBytes(32)), close }
  }, test.serial)

  test.serial(`${name}: an erased key leaves the memory of every process, whatever their clocks say`, async (t) => {
    const { connection, close } = await open()
    t.teardown(close)
    const masterKey = randomBytes(32)
    const [here, there] = [await openMongoKeyring(connection, masterKey), await openMongoKeyring(connection, masterKey)]
    const alice = await right(here.seal('user-1', plainMembers(['Alice'])))
    const bob = await right(here.seal('user-2', plainMembers(['Bob'])))
    t.deepEqual(await right(there.open(sealedMembers([...alice, ...bob]))), [E.right('Alice'), E.right('Bob')])
    const recentlyErased = erasedLately(connection)
    t.deepEqual(await recentlyErased(), E.right([]))
    await withSlowClock(() => right(here.erase(['user-1'])))
    const { stop } = followErasures({
      memories: [there],
      erased: recentlyErased,
      needed: () => [],
      timers: systemTimers,
      monotonic: () => performance.now(),
      logger: createRecordingLogger(),
    })
    await eventually(async () => {
      const [opened] = await right(there.open(sealedMembers(alice)))
      if (opened === undefined || E.isRight(opened)) throw new Error('the key is still in memory')
    })
    t.deepEqual(await right(there.open(sealedMembers([...alice, ...bob]))), [
      E.left({ _tag: 'KeyErased', key: 'user-1' }),
      E.right('Bob'),
    ])
    await stop()
  })

  test.serial(`${name}: a repeated erasure gets the time of the server, and is reported for a minute`, async (t) => {
    const { connection, close } = await open()
    t.teardown(close)
    const keyring = await openMongoKeyring(connection, randomBytes(32))
    await right(keyring.erase(['user-1', 'user-2']))
    const keys = connection.keyring.collection<{ readonly _id: string; readonly erasedAt: Date }>('keys')
    // Simulates a date written by an older version or by a primary with a slow clock.
    for (const _id of ['user-1', 'user-2'])
      await keys.updateOne({ _id }, { $set: { erasedAt: new Date(Date.now() - 120_000) } })
    const recentlyErased = erasedLately(connection)
    t.deepEqual(await recentlyErased(), E.right([]))
    await right(keyring.erase(['user-1']))
    t.deepEqual(await recentlyErased(), E.right(['user-1']))
    t.deepEqual(await recentlyErased(), E.right(['user-1']))
    t.deepEqual(await erasedLately(connection)(), E.right(['user-1']))
  })
})
