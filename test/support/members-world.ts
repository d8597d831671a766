import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { ROLES } from '../../application/ports/members.ts'
import type { Members, Profile } from '../../application/ports/members.ts'
import { joinMembers } from '../../infrastructure/mongodb/members.ts'
import type { MemberRegister } from '../../infrastructure/mongodb/member-register.ts'
import { createManualTimers } from './manual-timers.ts'
import { createMemoryRegister } from './memory-register.ts'
import { createRecordingLogger } from './recording-logger.ts'

export const TTL = 5000

/** Of a process that does everything. */
export const PROFILE: Profile = { roles: ROLES, version: '1.0.0', speaks: { log: 1, relay: 1 } }

/** Virtual time goes on by a fifth of the time between two looks. */
export const STEP = TTL / 50

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
export const createMembersWorld = () => {
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
    void joinMembers({ register: own, timers, logger }, claim, PROFILE, TTL).then(
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
