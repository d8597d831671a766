import { mock } from 'node:test'
import test from 'ava'
import { createMembersWorld, TTL } from '../../../support/worlds/members-world.ts'
import { FAULTS } from './faulty-clock.ts'

const LEASE = 'chore'

for (const { fault, wrongBy } of FAULTS)
  test.serial(`leases are kept, and taken over after the same wait, when ${fault}`, async (t) => {
    const world = createMembersWorld()
    const [holder, other] = [world.start('a', { leases: [LEASE] }), world.start('b')]
    await world.pass(2 * TTL)
    other.requestLease(LEASE)
    await world.pass(2 * TTL)
    t.deepEqual([holder, other].map(({ held }) => held(LEASE) !== undefined), [true, false])
    const real = Date.now
    const clock = mock.method(Date, 'now', () => real() + wrongBy)
    t.teardown(() => clock.mock.restore())
    await world.pass(3 * TTL)
    t.deepEqual([holder, other].map(({ held }) => held(LEASE) !== undefined), [true, false], 'the lease is kept')
    t.deepEqual(world.wronglyLost, [])
    holder.kill()
    await world.pass(TTL / 2)
    t.is(other.held(LEASE), undefined, 'not sooner')
    await world.pass(2 * TTL)
    t.not(other.held(LEASE), undefined, 'not later')
  })
