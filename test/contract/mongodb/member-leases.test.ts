import test from 'ava'
import fc from 'fast-check'
import { createMembersWorld, STEP, TTL } from '../../support/worlds/members-world.ts'

type World = ReturnType<typeof createMembersWorld>

const namesFor = (process: ReturnType<World['start']>): ReadonlyArray<string> =>
  process
    .members()
    .all()
    .map(({ name }) => name)

const directory = fc.constantFrom('a', 'b', 'c')
const which = fc.nat({ max: 20 })
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constant('start' as const), directory, name: fc.constantFrom('x', 'y') }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('kill', 'stop', 'freeze', 'thaw'), which }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('well', 'cut', 'mute', 'mute-writes', 'deposed'), which }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('elect' as const), isOn: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.integer({ min: STEP, max: 2 * TTL }) }),
  },
)
type Step = (typeof step) extends fc.Arbitrary<infer A> ? A : never

const LEASES = ['projection:lives', 'reconciler']

const take = async (world: World, one: Step): Promise<void> => {
  if (one.act === 'pass') return world.pass(one.ms)
  if (one.act === 'elect') return world.elect(one.isOn)
  if (one.act === 'start') {
    if (!world.isTaken(one.directory)) world.start(one.directory, { name: one.name, leases: LEASES })
    return
  }
  const process = world.processes.at(one.which % Math.max(1, world.processes.length))
  if (process === undefined) return
  if (one.act === 'kill' || one.act === 'stop' || one.act === 'freeze' || one.act === 'thaw')
    await Promise.all([process[one.act](), world.pass(STEP)])
  else process.lineIs(one.act)
}

const heal = async (world: World): Promise<void> => {
  world.elect(false)
  for (const { thaw, lineIs } of world.processes) {
    thaw()
    lineIs('well')
  }
  await world.pass(3 * TTL)
}

for (const freeze of ['machine', 'process'] as const)
  test(`whatever happens, nobody who beats is replaced or found lost, no token has two holders, and in the end one of a name is up and one holds each lease: ${freeze}`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const world = createMembersWorld(freeze)
        for (const one of steps) {
          await take(world, one)
          t.deepEqual(world.wronged, [])
        }
        await heal(world)
        const up = world.up()
        t.true(
          world.processes.every(({ phase }) => phase() !== 'starting'),
          'a start neither ends nor is refused',
        )
        const names = up.map((one) => one.members().self.name)
        t.is(new Set(names).size, names.length, 'two of a name are up')
        for (const one of up) t.deepEqual(namesFor(one).toSorted(), names.toSorted(), 'somebody is not seen')
        world.start('d', { leases: LEASES })
        await world.pass(2 * TTL)
        t.is(world.up().length, up.length + 1)
        t.deepEqual(world.wronged, [])
        for (const lease of LEASES) {
          const holders = world.processes.filter(
            (one) => one.phase() !== 'gone' && one.held(lease)?.signal.aborted === false,
          )
          t.is(holders.length, 1, 'not one holds the lease')
          const given = world.holdings.filter((one) => one.lease === lease)
          const owners = Map.groupBy(given, ({ token }) => token)
          for (const [token, of] of owners)
            t.is(new Set(of.map(({ incarnation }) => incarnation)).size, 1, `token ${token}`)
          t.is(holders[0]?.held(lease)?.token, Math.max(...owners.keys()))
        }
      }),
      { numRuns: 150 },
    )
  })

test("a lease of a killed member is another's within its TTL and a few looks, and in an election nobody's", async (t) => {
  const world = createMembersWorld()
  const first = world.start('a', { leases: LEASES })
  await world.pass(TTL)
  const second = world.start('b', { leases: LEASES })
  await world.pass(TTL)
  t.deepEqual([first.held('reconciler')?.token, second.held('reconciler')], [1, undefined])
  world.elect(true)
  await world.pass(5 * TTL)
  world.elect(false)
  await world.pass(TTL)
  t.is(first.held('reconciler')?.signal.aborted, false)
  t.is(second.held('reconciler'), undefined)
  first.kill()
  await world.pass(TTL * 1.3)
  t.is(second.held('reconciler')?.token, 2)
  t.deepEqual(
    second
      .leases()
      .holders()
      .filter(({ isOwn }) => isOwn)
      .map(({ name }) => name)
      .toSorted(),
    LEASES.toSorted(),
  )
})

test('a frozen holder that wakes is told at its next look, and one that restarts under its name holds nothing', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a', { leases: LEASES })
  await world.pass(TTL)
  const second = world.start('b', { leases: LEASES })
  await world.pass(TTL)
  first.freeze()
  await world.pass(2 * TTL)
  const before = first.held('reconciler')
  t.deepEqual([before?.signal.aborted, second.held('reconciler')?.token], [false, 2])
  first.thaw()
  await world.pass(TTL / 5)
  t.is(before?.signal.aborted, true)
  second.kill()
  world.start('b', { leases: LEASES })
  await world.pass(TTL / 5)
  t.is(first.held('reconciler')?.token, 3)
})

test('a member that stops gives its leases up at once', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a', { leases: LEASES })
  await world.pass(TTL)
  const second = world.start('b', { leases: LEASES })
  await world.pass(TTL)
  await Promise.all([first.stop(), world.pass(TTL / 5)])
  t.is(second.held('reconciler')?.token, 2)
})

test('work that ends by itself leaves its lease to who waits for it', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a')
  await world.pass(TTL)
  const second = world.start('b', { leases: ['reconciler'] })
  const ended = Promise.withResolvers<void>()
  first.leases().hold('reconciler', () => ended.promise)
  await world.pass(TTL)
  t.is(second.held('reconciler'), undefined)
  ended.resolve()
  await world.pass(TTL)
  t.is(second.held('reconciler')?.token, 2)
})

test('a lease that was taken by a request whose answer was lost is held under its token', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a')
  await world.pass(TTL + 3 * STEP)
  first.lineIs('mute-writes')
  first.seek('reconciler')
  await world.pass(STEP)
  t.is(first.held('reconciler'), undefined)
  first.lineIs('well')
  await world.pass(TTL)
  t.is(first.held('reconciler')?.token, 1)
})
