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
const anyStep = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constant('start' as const), directory, name: fc.constantFrom('x', 'y') }),
  },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('kill', 'stop', 'freeze', 'thaw'), which }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('open', 'cut', 'mute', 'mute-writes', 'deposed'), which }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('elect' as const), isOn: fc.boolean() }) },
  {
    weight: 8,
    arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.integer({ min: STEP, max: 2 * TTL }) }),
  },
)
type Step = (typeof anyStep) extends fc.Arbitrary<infer A> ? A : never

const LEASES = ['projection:lives', 'reconciler']

const take = async (world: World, step: Step): Promise<void> => {
  if (step.act === 'pass') return world.pass(step.ms)
  if (step.act === 'elect') return world.elect(step.isOn)
  if (step.act === 'start') {
    if (!world.isTaken(step.directory)) world.start(step.directory, { name: step.name, leases: LEASES })
    return
  }
  const process = world.processes.at(step.which % Math.max(1, world.processes.length))
  if (process === undefined) return
  if (step.act === 'kill' || step.act === 'stop' || step.act === 'freeze' || step.act === 'thaw')
    await Promise.all([process[step.act](), world.pass(STEP)])
  else process.setLine(step.act)
}

const heal = async (world: World): Promise<void> => {
  world.elect(false)
  for (const { thaw, setLine } of world.processes) {
    thaw()
    setLine('open')
  }
  await world.pass(3 * TTL)
}

for (const freeze of ['machine', 'process'] as const)
  test(`under any failures no member with heartbeats is lost and no token has two holders: ${freeze}`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
        const world = createMembersWorld(freeze)
        for (const step of steps) {
          await take(world, step)
          t.deepEqual(world.wronglyLost, [])
        }
        await heal(world)
        const up = world.up()
        t.true(world.processes.every(({ phase }) => phase() !== 'starting'), 'every start ends, in success or refusal')
        const names = up.map((process) => process.members().self.name)
        t.is(new Set(names).size, names.length, 'no two processes with one name are up')
        for (const process of up) t.deepEqual(namesFor(process).toSorted(), names.toSorted(), 'every member is seen')
        world.start('d', { leases: LEASES })
        await world.pass(2 * TTL)
        t.is(world.up().length, up.length + 1)
        t.deepEqual(world.wronglyLost, [])
        for (const lease of LEASES) {
          const holders = world.processes.filter(
            (process) => process.phase() !== 'gone' && process.held(lease)?.signal.aborted === false,
          )
          t.is(holders.length, 1, 'exactly one process holds the lease')
          const holdings = world.holdings.filter((holding) => holding.lease === lease)
          const owners = Map.groupBy(holdings, ({ token }) => token)
          for (const [token, tokenHoldings] of owners)
            t.is(new Set(tokenHoldings.map(({ incarnation }) => incarnation)).size, 1, `token ${token}`)
          t.is(holders[0]?.held(lease)?.token, Math.max(...owners.keys()))
        }
      }),
      { numRuns: 150 },
    )
  })

test('another member takes the lease of a killed one after its TTL, and not during an election', async (t) => {
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

test('a lease of a lost member is held by nobody until another member takes it', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a', { leases: LEASES })
  await world.pass(TTL)
  const watching = world.start('b')
  await world.pass(TTL)
  const holders = (): ReadonlyArray<string | null> => watching.leases().holders().map(({ holder }) => holder)
  const { name } = first.members().self
  t.deepEqual(holders(), [name, name])
  first.kill()
  await world.pass(TTL / 2)
  t.deepEqual(holders(), [name, name], 'the member is not lost yet')
  await world.pass(TTL)
  t.deepEqual(holders(), [null, null])
  world.elect(true)
  await world.pass(2 * TTL)
  t.deepEqual(holders(), [null, null], 'an election says nothing about the members')
  world.elect(false)
  const next = world.start('c', { leases: LEASES })
  await world.pass(2 * TTL)
  t.deepEqual(holders(), [next.members().self.name, next.members().self.name])
})

test('while MongoDB does not answer, no member loses its leases in the figures', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a', { leases: LEASES })
  await world.pass(TTL)
  const watching = world.start('b')
  await world.pass(TTL)
  const { name } = first.members().self
  watching.setLine('cut')
  await world.pass(3 * TTL)
  t.deepEqual(watching.leases().holders().map(({ holder }) => holder), [name, name])
})

test('a frozen holder learns of its loss on waking, and a restarted holder holds nothing', async (t) => {
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

test('a stopping member releases its leases immediately', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a', { leases: LEASES })
  await world.pass(TTL)
  const second = world.start('b', { leases: LEASES })
  await world.pass(TTL)
  await Promise.all([first.stop(), world.pass(TTL / 5)])
  t.is(second.held('reconciler')?.token, 2)
})

test('work that ends on its own leaves its lease to a waiting member', async (t) => {
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

test('a lease is held under its token even if the answer to its acquisition was lost', async (t) => {
  const world = createMembersWorld()
  const first = world.start('a')
  await world.pass(TTL + 3 * STEP)
  first.setLine('mute-writes')
  first.requestLease('reconciler')
  await world.pass(STEP)
  t.is(first.held('reconciler'), undefined)
  first.setLine('open')
  await world.pass(TTL)
  t.is(first.held('reconciler')?.token, 1)
})
