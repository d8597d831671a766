import test from 'ava'
import type { Self } from '../../application/ports/members.ts'
import { alone } from '../../infrastructure/alone.ts'
import { openMemberRegister } from '../../infrastructure/mongodb/member-register.ts'
import type { MemberRegister } from '../../infrastructure/mongodb/member-register.ts'
import { joinMembers } from '../../infrastructure/mongodb/members.ts'
import { systemTimers as timers } from '../../infrastructure/node/system-timers.ts'
import { claimOf } from '../../infrastructure/stores/claim.ts'
import { PROFILE } from '../support/members-world.ts'
import { createMemoryRegister } from '../support/memory-register.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'
import { membersContract, registerContract } from './members.contract.ts'
import { onEveryMongo } from './mongodb-support.ts'

const nothing = (): Promise<void> => Promise.resolve()

const joined = (register: MemberRegister, self: Self) =>
  joinMembers({ register, timers, logger: createRecordingLogger() }, claimOf(self, 'node-1', 'now'), PROFILE, 5000)

membersContract('alone', async (self) => ({ opened: alone(self, PROFILE), close: nothing }))
membersContract('memory', async (self) => ({ opened: await joined(createMemoryRegister(), self), close: nothing }))
registerContract('memory', async () => ({ opened: createMemoryRegister(), close: nothing }))

onEveryMongo((name, open) => {
  membersContract(name, async (self) => {
    const { connection, close } = await open()
    return { opened: await joined(await openMemberRegister(connection), self), close }
  }, test.serial)
  registerContract(name, async () => {
    const { connection, close } = await open()
    return { opened: await openMemberRegister(connection), close }
  }, test.serial)
})
