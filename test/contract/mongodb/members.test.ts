import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { NOTHING_ANNOUNCED } from '../../../infrastructure/embedded-members.ts'
import { createMembersWorld, PROFILE, STEP, TTL } from '../../support/worlds/members-world.ts'

type World = ReturnType<typeof createMembersWorld>

const namesFor = (process: ReturnType<World['start']>): ReadonlyArray<string> =>
  process
    .members()
    .all()
    .map(({ name }) => name)

test("members with different names run side by side and see each other's announcements", async (t) => {
  const world = createMembersWorld()
  const [first, second, third] = ['a', 'b', 'c'].map((directory) => world.start(directory))
  // A heartbeat has just been sent.
  await world.pass(TTL + 3 * STEP)
  t.deepEqual(world.processes.map(({ phase }) => phase()), ['up', 'up', 'up'])
  if (first === undefined || second === undefined || third === undefined) return
  t.deepEqual(
    world.processes.map((process) => namesFor(process).toSorted()),
    Array.from({ length: 3 }, () => ['a', 'b', 'c']),
  )
  let changes = 0
  second.members().onChange(() => (changes += 1))
  const announcement = {
    ...NOTHING_ANNOUNCED,
    state: 'draining' as const,
    address: 'host:1',
    logAnswers: false,
    lives: [7],
  }
  first.members().announce(announcement)
  t.like(first.members().all()[0], announcement)
  // The announcement arrives before the next heartbeat.
  await world.pass(TTL / 10)
  t.is(changes, 1)
  t.like(
    second
      .members()
      .all()
      .find(({ name }) => name === 'a'),
    { ...PROFILE, ...announcement, incarnation: first.incarnation },
  )
  first.members().announce({ lives: [7, 8] })
  await world.pass(TTL / 2)
  t.deepEqual(second.members().all().find(({ name }) => name === 'a')?.lives, [7, 8])
  const jobs = { doing: [], cancelling: [3] }
  // A heartbeat has just been sent, so the announcement does not arrive with the next one.
  await world.pass(3 * STEP)
  first.members().announce({ jobs })
  await world.pass(TTL / 10)
  t.deepEqual(
    second
      .members()
      .all()
      .find(({ name }) => name === 'a')?.jobs,
    jobs,
    'jobs are announced immediately, because a client waits for them',
  )
  await Promise.all([first.stop(), world.pass(TTL / 5)])
  t.deepEqual(namesFor(second).toSorted(), ['b', 'c'])
  t.deepEqual(second.lost, [])
})

test('a name belongs to its live member: a second start is refused and names the first', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', { name: 'alpha' })
  await world.pass(TTL)
  const second = world.start('there', { name: 'alpha' })
  await world.pass(TTL)
  t.deepEqual([first.phase(), second.phase()], ['up', 'refused'])
  t.regex(
    second.reason(),
    new RegExp(
      'the name of this process is taken by "alpha" \\(process 0 on here, since 0\\): ' +
        'stop that process, or set a different STENOLOG_NODE_NAME',
    ),
  )
  t.deepEqual(namesFor(first), ['alpha'])
})

test('a process on the same data directory replaces a killed member at once, any other after ten checks', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', { name: 'alpha' })
  await world.pass(TTL)
  first.kill()
  const second = world.start('here', { name: 'alpha' })
  await world.pass(STEP)
  t.is(second.phase(), 'up')
  t.is(world.warnings(), 0)
  second.kill()
  const third = world.start('there', { name: 'alpha' })
  await world.pass(TTL - STEP)
  t.is(third.phase(), 'starting')
  t.is(world.warnings(), 1)
  await world.pass(2 * STEP)
  t.is(third.phase(), 'up')
})

test('a start does not wait for a member that left or is stopping', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', { name: 'alpha' })
  await world.pass(TTL)
  await Promise.all([first.stop(), world.pass(STEP)])
  const second = world.start('there', { name: 'alpha' })
  await world.pass(STEP)
  t.is(second.phase(), 'up')
  second.members().announce({ state: 'stopping' })
  await world.pass(STEP)
  const third = world.start('elsewhere', { name: 'alpha' })
  await world.pass(STEP)
  t.deepEqual([third.phase(), world.warnings()], ['up', 0])
  await world.pass(TTL / 5)
  t.is(second.phase(), 'replaced')
})

test('every member reports a killed member as lost once, after ten checks, also to later subscribers', async (t) => {
  const world = createMembersWorld()
  const [first, second, third] = [world.start('a'), world.start('b'), world.start('c')]
  await world.pass(TTL)
  third.kill()
  await world.pass(TTL * 0.7)
  t.deepEqual([first.lost, second.lost], [[], []])
  await world.pass(TTL * 0.6)
  t.deepEqual([first.lost, second.lost], [[third.incarnation], [third.incarnation]])
  t.deepEqual(namesFor(first).toSorted(), ['a', 'b'])
  await world.pass(4 * TTL)
  t.is(first.lost.length, 1)
  const later: Array<string> = []
  first.members().onLost(({ incarnation }) => later.push(incarnation))
  t.deepEqual(later, [third.incarnation])
  const fourth = world.start('d')
  await world.pass(2 * TTL)
  t.deepEqual(fourth.lost, [third.incarnation])
  // Its entry is removed after a long time.
  await world.pass(101 * TTL)
  const remaining = await world.register.read()
  t.deepEqual(E.isRight(remaining) && remaining.right.map(({ name }) => name).toSorted(), ['a', 'b', 'd'])
})

test('a disconnected member is lost, and returns with its next heartbeat', async (t) => {
  const world = createMembersWorld()
  const [first, second] = [world.start('a'), world.start('b')]
  await world.pass(TTL)
  second.setLine('cut')
  await world.pass(2 * TTL)
  t.deepEqual([first.lost, namesFor(first)], [[second.incarnation], ['a']])
  t.deepEqual(second.lost, [])
  second.setLine('open')
  await world.pass(TTL)
  t.deepEqual([namesFor(first).toSorted(), second.phase(), second.lost], [['a', 'b'], 'up', []])
  second.setLine('cut')
  await world.pass(2 * TTL)
  t.is(first.lost.length, 2)
})

test('no member is lost during an election, on a deposed primary or while the observer is frozen', async (t) => {
  for (const freeze of ['machine', 'process'] as const) {
    const world = createMembersWorld(freeze)
    const [first, second] = [world.start('a'), world.start('b')]
    await world.pass(TTL)
    world.elect(true)
    await world.pass(5 * TTL)
    world.elect(false)
    await world.pass(TTL)
    first.setLine('deposed')
    await world.pass(5 * TTL)
    t.deepEqual([first.lost, namesFor(first)], [[], ['a', 'b']])
    first.setLine('open')
    await world.pass(TTL)
    first.freeze()
    await world.pass(5 * TTL)
    first.thaw()
    await world.pass(TTL)
    t.deepEqual(first.lost, [])
    t.true(world.processes.every(({ phase }) => phase() === 'up'), second.reason())
  }
})

test('a frozen member learns on waking that another process replaced it', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', { name: 'alpha' })
  await world.pass(TTL)
  first.freeze()
  const second = world.start('there', { name: 'alpha' })
  await world.pass(2 * TTL)
  t.deepEqual([first.phase(), second.phase()], ['up', 'up'])
  first.thaw()
  t.is(await second.members().ownershipProblem(), null)
  t.regex((await first.members().ownershipProblem()) ?? '', /has taken its place in MongoDB/)
  await world.pass(TTL / 5)
  t.deepEqual([first.phase(), second.phase()], ['replaced', 'up'])
  t.regex(first.reason(), /^the process "alpha" \(process 1 on here, since 5000\) has taken its place in MongoDB$/)
})

test('a waiting start begins its checks again when another process takes the name', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', { name: 'alpha' })
  await world.pass(TTL)
  first.kill()
  const waiting = world.start('there', { name: 'alpha' })
  await world.pass(TTL * 0.8)
  const third = world.start('here', { name: 'alpha' })
  await world.pass(STEP)
  third.freeze()
  await world.pass(TTL * 0.8)
  t.deepEqual([third.phase(), waiting.phase()], ['up', 'starting'])
})

test('a start without an answer from MongoDB ends with the reason', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', { line: 'cut' })
  await world.pass(TTL)
  t.is(first.phase(), 'refused')
  t.regex(first.reason(), /MongoDB does not report which other processes use it: cut off/)
})

test('a different LEASE_TTL is refused while a member sends heartbeats, and waits for a silent member', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a')
  await world.pass(TTL)
  const second = world.start('b', { ttl: 3000 })
  await world.pass(TTL)
  t.is(second.phase(), 'refused')
  t.regex(second.reason(), /LEASE_TTL is 3000 ms here and 5000 ms in the process "a"/)
  first.kill()
  const third = world.start('c', { ttl: 3000 })
  // The start waits as long as the TTL of the killed member.
  await world.pass(TTL * 0.9)
  t.is(third.phase(), 'starting')
  await world.pass(TTL * 0.3)
  t.is(third.phase(), 'up')
})
