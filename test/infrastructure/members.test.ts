import { setImmediate } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Members } from '../../application/ports/members.ts'
import { joinMembers } from '../../infrastructure/mongodb/members.ts'
import type { MemberRegister } from '../../infrastructure/mongodb/member-register.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { createMemoryRegister } from '../support/memory-register.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'

const TTL = 5000
/** Virtual time goes on by a fifth of the time between two looks. */
const STEP = TTL / 50

type Phase = 'starting' | 'up' | 'refused' | 'replaced' | 'gone'

/** What becomes of a process's requests: answered; not made; made, and the answer lost. */
type Line = 'well' | 'cut' | 'mute'

interface Process {
  readonly directory: string
  readonly incarnation: string
  readonly phase: () => Phase
  /** Why it was refused, or must end. */
  readonly why: () => string
  readonly whyNot: () => Promise<string | null | undefined>
  readonly advance: () => void
  readonly freeze: () => void
  /** Its timers are late. */
  readonly thaw: () => void
  readonly lineIs: (kind: Line) => void
  /** kill -9. */
  readonly kill: () => void
  /** As it is told to: it gives its place up, where that is heard. */
  readonly stop: () => Promise<void>
}

/**
 * Processes that share a register of members, in virtual time: a clock stands still while its process is frozen. A data
 * directory runs one process at a time, as its lock has it.
 */
const createWorld = () => {
  const register = createMemoryRegister()
  const logger = createRecordingLogger()
  /** When an incarnation was last heard of. */
  const heard = new Map<string, number>()
  const wronged: Array<string> = []
  const processes: Array<Process> = []
  const runs = (phase: Phase): boolean => phase === 'starting' || phase === 'up'
  let now = 0

  const start = (directory: string, name = directory, line: Line = 'well'): Process => {
    const incarnation = `run-${processes.length}`
    const timers = createManualTimers()
    let phase: Phase = 'starting'
    let isFrozen = false
    let members: Members | null = null
    let why = ''

    const asked = async <A>(make: () => Promise<Either<string, A>>): Promise<Either<string, A>> => {
      if (phase === 'gone') return new Promise(() => undefined)
      const outcome = line === 'cut' ? E.left('cut off') : await make()
      return line === 'mute' ? E.left('the answer is lost') : outcome
    }
    const hearing = (make: () => Promise<Either<string, boolean>>) => () => {
      heard.set(incarnation, now)
      return make()
    }
    const own: MemberRegister = {
      look: () => asked(register.look),
      enter: (member) => asked(hearing(() => register.enter(member))),
      beat: (member) => asked(hearing(() => register.beat(member))),
      leave: (member) => asked(() => register.leave(member)),
      strike: (member) => asked(async () => {
        const struck = await register.strike(member)
        const silence = now - (heard.get(member.incarnation) ?? 0)
        const lives = processes.some((other) => other.incarnation === member.incarnation && runs(other.phase()))
        const isOther = member.incarnation !== incarnation
        if (E.isRight(struck) && struck.right && isOther && lives && silence < TTL) wronged.push(`${member.incarnation} after ${silence} ms`)
        return struck
      }),
    }
    const claim = { name, incarnation, directory, host: 'here', pid: processes.length, since: String(now) }
    void joinMembers({ register: own, timers, logger }, claim, TTL).then(
      (joined) => {
        members = joined
        phase = 'up'
        void joined.replaced.then((reason) => {
          phase = 'replaced'
          why = reason
        })
      },
      (error: unknown) => {
        phase = 'refused'
        why = String(error)
      },
    )
    const process: Process = {
      directory,
      incarnation,
      phase: () => phase,
      why: () => why,
      whyNot: async () => members?.whyNot(),
      advance: () => {
        if (!isFrozen && phase !== 'gone') timers.advance(STEP)
      },
      freeze: () => void (isFrozen = true),
      thaw: () => void (isFrozen = false),
      lineIs: (kind) => void (line = kind),
      kill: () => void (phase = 'gone'),
      stop: async () => {
        if (phase === 'up' && !isFrozen) await members?.leave()
        phase = 'gone'
      },
    }
    processes.push(process)
    return process
  }

  return {
    register, processes, wronged, start,
    warnings: () => logger.lines.length,
    isTaken: (directory: string): boolean => processes.some((one) => one.directory === directory && runs(one.phase())),
    up: () => processes.filter(({ phase }) => phase() === 'up'),
    pass: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += STEP) {
        now += STEP
        for (const { advance } of processes) advance()
        for (let turn = 0; turn < 3; turn += 1) await setImmediate()
      }
    },
  }
}

test('who beats keeps the place: another start is refused, by whatever name, in words that name the first', async (t) => {
  const world = createWorld()
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
  const world = createWorld()
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
  const world = createWorld()
  const first = world.start('here')
  await world.pass(TTL)
  await Promise.all([first.stop(), world.pass(STEP)])
  const second = world.start('there')
  await world.pass(STEP)
  t.deepEqual([second.phase(), world.warnings()], ['up', 0])
})

test('a look without an answer does not count: while nobody reaches MongoDB nobody is lost', async (t) => {
  const world = createWorld()
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
  const world = createWorld()
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

test('a start that MongoDB does not answer ends, and says why', async (t) => {
  const world = createWorld()
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
    const world = createWorld()
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
