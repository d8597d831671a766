import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Self } from '../../application/ports/members.ts'
import { embeddedMembers } from '../../infrastructure/embedded-members.ts'
import { createMemberRegister, type MemberRegister } from '../../infrastructure/mongodb/member-register.ts'
import { joinMembers } from '../../infrastructure/mongodb/members.ts'
import { systemTimers as timers } from '../../infrastructure/process/system-timers.ts'
import { claimOf } from '../../infrastructure/store-rules/claim.ts'
import { PROFILE } from '../support/worlds/members-world.ts'
import { createMemoryMemberRegister } from '../support/doubles/memory/member-register.ts'
import { createRecordingLogger } from '../support/doubles/loggers.ts'
import { entry, membersContract, registerContract } from './members.contract.ts'
import { onEveryMongo } from './mongodb-support.ts'

const doNothing = (): Promise<void> => Promise.resolve()

const joined = (register: MemberRegister, self: Self) =>
  joinMembers(
    { register, timers, monotonic: () => performance.now(), logger: createRecordingLogger() },
    claimOf(self, 'node-1', 'now'),
    PROFILE,
    5000,
  )

membersContract('single process', async (self) => ({ opened: embeddedMembers(self, PROFILE), close: doNothing }))
membersContract('memory', async (self) => ({
  opened: await joined(createMemoryMemberRegister(), self),
  close: doNothing,
}))
registerContract('memory', async () => ({ opened: createMemoryMemberRegister(), close: doNothing }))

/** The entry of an older version that did not share the stores with other processes. */
interface OlderEntry {
  readonly _id: string
  readonly only: true
  readonly incarnation: string
  readonly beat: number
}

onEveryMongo((name, open) => {
  membersContract(name, async (self) => {
    const { connection, close } = await open()
    return { opened: await joined(createMemberRegister(connection), self), close }
  }, test.serial)
  registerContract(name, async () => {
    const { connection, close } = await open()
    return { opened: createMemberRegister(connection), close }
  }, test.serial)

  test.serial(
    `${name}: an older, single-process version is kept out, and its index does not stop several members`,
    async (t) => {
      const { connection, close } = await open()
      t.teardown(close)
      const collection = connection.readModels.collection<OlderEntry>('members')
      const index = () => collection.createIndex({ only: 1 }, { unique: true, name: 'only_one' })
      const olderEntry = { _id: 'old', only: true, incarnation: 'o', beat: 0 } as const
      const register = createMemberRegister(connection)
      await index()
      t.deepEqual(await register.enter(entry('alpha', '1')), E.right(true))
      await t.throwsAsync(collection.insertOne(olderEntry), { message: /E11000/ })
      // The first attempt removes the index that blocks it.
      t.deepEqual(await register.enter(entry('beta', '2')), E.right(false))
      t.deepEqual(await register.enter(entry('beta', '2')), E.right(true))
      await t.throwsAsync(index(), { message: /E11000/ })
      await collection.insertOne(olderEntry)
      const seen = await register.read()
      t.deepEqual(E.isRight(seen) && seen.right.map((member) => [member.name, member.isSole]), [
        ['alpha', false],
        ['beta', false],
        ['old', true],
      ])
    },
  )
})
