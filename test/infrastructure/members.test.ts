import test from 'ava'
import fc from 'fast-check'
import { createMembersWorld, STEP, TTL } from '../support/members-world.ts'

test('who beats keeps the place: another start is refused, by whatever name, in words that name the first', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', 'alpha')
  await world.pass(TTL)
  for (const name of ['alpha', 'beta']) {
    const second = world.start('there', name)
    await world.pass(TTL)
    t.deepEqual([first.phase(), second.phase()], ['up', 'refused'])
    t.regex(second.why(), /MongoDB is in use by the process "alpha" \(process 0 on here, since 0\): stop it first/)
  }
})

test('one that was killed is replaced at once from its data directory, by whatever name, and from another after ten looks', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', 'alpha')
  await world.pass(TTL)
  first.kill()
  const second = world.start('here', 'beta')
  await world.pass(STEP)
  t.is(second.phase(), 'up')
  t.is(world.warnings(), 0)
  second.kill()
  const third = world.start('there')
  await world.pass(TTL - STEP)
  t.is(third.phase(), 'starting')
  t.is(world.warnings(), 1)
  await world.pass(2 * STEP)
  t.is(third.phase(), 'up')
})

test('a member that left need not be waited for', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here')
  await world.pass(TTL)
  await Promise.all([first.stop(), world.pass(STEP)])
  const second = world.start('there')
  await world.pass(STEP)
  t.deepEqual([second.phase(), world.warnings()], ['up', 0])
})

test('a look without an answer does not count: while nobody reaches MongoDB nobody is lost', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here')
  await world.pass(TTL)
  const second = world.start('there')
  await world.pass(STEP)
  for (const { lineIs } of [first, second]) lineIs('cut')
  await world.pass(TTL * 0.9)
  second.lineIs('well')
  await world.pass(STEP * 5)
  first.lineIs('well')
  await world.pass(TTL)
  t.deepEqual([first.phase(), second.phase()], ['up', 'refused'])
})

test('one that was frozen while another took its place is told so when it wakes', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here')
  await world.pass(TTL)
  first.freeze()
  const second = world.start('there')
  await world.pass(2 * TTL)
  t.deepEqual([first.phase(), second.phase()], ['up', 'up'])
  first.thaw()
  t.is(await second.whyNot(), null)
  t.regex((await first.whyNot()) ?? '', /has taken its place in MongoDB/)
  await world.pass(TTL / 5)
  t.deepEqual([first.phase(), second.phase()], ['replaced', 'up'])
  t.regex(first.why(), /^the process "there" \(process 1 on here, since 5000\) has taken its place in MongoDB$/)
})

test('a place that changes hands is judged anew', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here')
  await world.pass(TTL)
  first.kill()
  const waiting = world.start('there')
  await world.pass(TTL * 0.8)
  const third = world.start('here')
  await world.pass(STEP)
  third.freeze()
  await world.pass(TTL * 0.8)
  t.deepEqual([third.phase(), waiting.phase()], ['up', 'starting'])
})

test('a start that MongoDB does not answer ends, and says why', async (t) => {
  const world = createMembersWorld()
  const first = world.start('here', 'here', 'cut')
  await world.pass(TTL)
  t.is(first.phase(), 'refused')
  t.regex(first.why(), /MongoDB does not tell whether another process uses it: cut off/)
})

const directory = fc.constantFrom('a', 'b', 'c')
const which = fc.nat({ max: 20 })
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ act: fc.constant('start' as const), directory, name: fc.constantFrom('x', 'y') }) },
  { weight: 4, arbitrary: fc.record({ act: fc.constantFrom('kill', 'stop', 'freeze', 'thaw'), which }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('well', 'cut', 'mute'), which }) },
  { weight: 8, arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.integer({ min: STEP, max: 2 * TTL }) }) },
)

test('whatever happens, nobody who beats is replaced, who is replaced ends, and in the end one is up', async (t) => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
    const world = createMembersWorld()
    for (const one of steps) {
      if (one.act === 'pass') await world.pass(one.ms)
      else if (one.act === 'start') {
        if (!world.isTaken(one.directory)) world.start(one.directory, one.name)
      } else {
        const process = world.processes.at(one.which % Math.max(1, world.processes.length))
        if (process === undefined) continue
        if (one.act === 'well' || one.act === 'cut' || one.act === 'mute') process.lineIs(one.act)
        else await Promise.all([process[one.act](), world.pass(STEP)])
      }
      t.deepEqual(world.wronged, [])
    }
    for (const { thaw, lineIs } of world.processes) {
      thaw()
      lineIs('well')
    }
    await world.pass(3 * TTL)
    const up = world.up()
    t.true(up.length <= 1, 'two are up')
    t.true(world.processes.every(({ phase }) => phase() !== 'starting'), 'a start neither ends nor is refused')
    const last = world.start('d')
    await world.pass(2 * TTL)
    t.is(last.phase(), up.length === 0 ? 'up' : 'refused')
    t.deepEqual(world.wronged, [])
  }), { numRuns: 200 })
})
