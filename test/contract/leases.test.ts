import test from 'ava'
import type { Logger } from '../../application/ports/environment.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { embeddedMembers, embeddedLeases } from '../../infrastructure/embedded-members.ts'
import { createLeaseRegister, type LeaseRegister } from '../../infrastructure/mongodb/lease-register.ts'
import { createLeases } from '../../infrastructure/mongodb/leases.ts'
import { createMemberRegister, type MemberRegister } from '../../infrastructure/mongodb/member-register.ts'
import { joinMembers } from '../../infrastructure/mongodb/members.ts'
import { createLogger } from '../../infrastructure/observability/logger.ts'
import { systemTimers as timers } from '../../infrastructure/process/system-timers.ts'
import { claimOf } from '../../infrastructure/store-rules/claim.ts'
import { PROFILE } from '../support/worlds/members-world.ts'
import { createMemoryLeaseRegister } from '../support/doubles/memory/lease-register.ts'
import { createMemoryMemberRegister } from '../support/doubles/memory/member-register.ts'
import { createRecordingLogger } from '../support/doubles/loggers.ts'
import { leaseRegisterContract, leasesContract, sharedLeasesContract } from './leases.contract.ts'
import { onEveryMongo } from './mongodb-support.ts'

const doNothing = (): Promise<void> => Promise.resolve()

/** In milliseconds. No member counts as lost within this time, even on a busy machine. */
const TTL_MS = 60_000

/** Checks leases often although the TTL is long. */
const fastTimers: Timers = { after: (ms, task) => timers.after(ms / 100, task) }

/** Joins as a separate process and returns its leases. */
const leasesOf = async (
  name: string, members: MemberRegister, register: LeaseRegister, logger: Logger = createRecordingLogger(),
) => {
  const self = { name, incarnation: `${name}-1` }
  const monotonic = (): number => performance.now()
  const joined = await joinMembers(
    { register: members, timers: fastTimers, monotonic, logger },
    claimOf(self, name, 'now'),
    PROFILE,
    TTL_MS,
  )
  return {
    opened: createLeases({ register, members: joined, timers: fastTimers, logger, pauseMs: 100 }),
    close: joined.leave,
  }
}

test('the log shows the fencing number of a lease', async (t) => {
  const lines: Array<string> = []
  const logger = createLogger('info', { write: (line) => lines.push(line) })
  const leases = await leasesOf('alpha', createMemoryMemberRegister(), createMemoryLeaseRegister(), logger)
  const held = Promise.withResolvers<void>()
  const { stop } = leases.opened.hold('duty:one', async () => held.resolve())
  await held.promise
  await stop()
  await leases.close()
  t.regex(lines.join(''), /"lease":"duty:one","fencingNumber":1,"msg":"holding a lease"/)
})

leasesContract('single process', async () => {
  const self = { name: 'alpha', incarnation: 'alpha-1' }
  return { opened: embeddedLeases(embeddedMembers(self, PROFILE).self, { timers: fastTimers }), close: doNothing }
})
leasesContract('memory', () => leasesOf('alpha', createMemoryMemberRegister(), createMemoryLeaseRegister()))
leaseRegisterContract('memory', async () => ({ opened: createMemoryLeaseRegister(), close: doNothing }))

const both = async (members: MemberRegister, register: LeaseRegister, close: () => Promise<void> = doNothing) => {
  const [alpha, beta] = [await leasesOf('alpha', members, register), await leasesOf('beta', members, register)]
  return {
    opened: [alpha.opened, beta.opened] as const,
    close: async () => {
      await Promise.all([alpha.close(), beta.close()])
      await close()
    },
  }
}
sharedLeasesContract('memory', () => both(createMemoryMemberRegister(), createMemoryLeaseRegister()))

onEveryMongo((name, open) => {
  leasesContract(name, async () => {
    const { connection, close } = await open()
    const leases = await leasesOf('alpha', createMemberRegister(connection), createLeaseRegister(connection))
    return {
      opened: leases.opened,
      close: async () => {
        await leases.close()
        await close()
      },
    }
  }, test.serial)
  sharedLeasesContract(name, async () => {
    const { connection, close } = await open()
    return both(createMemberRegister(connection), createLeaseRegister(connection), close)
  }, test.serial)
  leaseRegisterContract(name, async () => {
    const { connection, close } = await open()
    return { opened: createLeaseRegister(connection), close }
  }, test.serial)
})
