import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { NOTHING_ANNOUNCED } from '../../../infrastructure/embedded-members.ts'
import { createMembersWorld, STEP, TTL } from '../../support/worlds/members-world.ts'

/** The entry of an older version that does not share the stores with other processes. */
const soleEntry = (directory: string) => ({
  ...NOTHING_ANNOUNCED,
  roles: [],
  version: '',
  speaks: { log: 0, relay: 0 },
  name: 'old',
  incarnation: 'old-1',
  directory,
  host: 'there',
  pid: 9,
  since: 'long ago',
  ttl: TTL,
  beat: 0,
  isSole: true,
})

test('a start waits for a silent older version and is refused while it sends heartbeats', async (t) => {
  const world = createMembersWorld()
  const old = soleEntry('x')
  await world.register.enter(old)
  const first = world.start('a')
  await world.pass(TTL * 0.5)
  await world.register.beat(old)
  await world.pass(TTL * 0.2)
  t.regex(
    first.reason(),
    new RegExp(
      'in use by the process "old" \\(process 9 on there, since long ago\\) ' +
        'of an older version, which must run alone: stop that process',
    ),
  )
  const second = world.start('a')
  await world.pass(TTL * 0.9)
  t.is(second.phase(), 'starting')
  await world.pass(TTL * 0.2)
  t.is(second.phase(), 'up')
  await Promise.all([second.stop(), world.pass(STEP)])
  await world.register.enter(old)
  const third = world.start('x')
  await world.pass(STEP)
  t.is(third.phase(), 'up')
})

test('members remove an older, single-process version that joined concurrently', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a')
  await world.pass(TTL)
  // The index was already removed when the older version joined.
  const old = soleEntry('x')
  await world.register.enter({ ...old, isSole: false })
  await world.register.replace(old, old)
  await world.pass(TTL)
  t.deepEqual(await world.register.beat(old), E.right(false))
  t.is(first.phase(), 'up')
})
