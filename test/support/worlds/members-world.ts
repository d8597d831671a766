import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Leases } from '../../../application/ports/peers/leases.ts'
import { ROLES } from '../../../application/ports/peers/members.ts'
import type { Members, Profile } from '../../../application/ports/peers/members.ts'
import { createLeases } from '../../../infrastructure/mongodb/leases.ts'
import type { Lease, LeaseRegister } from '../../../infrastructure/mongodb/lease-register.ts'
import { joinMembers } from '../../../infrastructure/mongodb/members.ts'
import type { Entry, MemberRegister } from '../../../infrastructure/mongodb/member-register.ts'
import { createManualTimers } from '../doubles/manual-timers.ts'
import { createMemoryLeaseRegister } from '../doubles/memory/lease-register.ts'
import { createMemoryMemberRegister } from '../doubles/memory/member-register.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'

export const TTL = 5000

/** Of a process that does everything. */
export const PROFILE: Profile = { roles: ROLES, version: '1.0.0', speaks: { log: 1, relay: 1 } }

/** Virtual time goes on by a fifth of the time between two looks. */
export const STEP = TTL / 50

type Phase = 'starting' | 'up' | 'refused' | 'replaced' | 'gone'

/**
 * What becomes of a process's requests: answered; not made; made, and the answer lost, of all or of writes alone; as a
 * deposed primary answers them, which shows what was and makes nothing.
 */
type Line = 'well' | 'cut' | 'mute' | 'mute-writes' | 'deposed'

interface Held {
  readonly token: number
  readonly signal: AbortSignal
}

interface Process {
  readonly directory: string
  readonly incarnation: string
  readonly phase: () => Phase
  /** Why it was refused, or must end. */
  readonly why: () => string
  readonly members: () => Members
  readonly leases: () => Leases
  /** Seeks the lease and works until it loses it. */
  readonly seek: (lease: string) => void
  /** What it holds, as it believes. */
  readonly held: (lease: string) => Held | undefined
  /** Incarnations that it found lost. */
  readonly lost: ReadonlyArray<string>
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

interface Starting {
  readonly name?: string
  readonly line?: Line
  readonly ttl?: number
  readonly leases?: ReadonlyArray<string>
}

/** How its own timers stand, by what a freeze is: the whole machine's, or this process's alone. */
type Freeze = 'machine' | 'process'

/**
 * Processes that share a register of members and their leases, in virtual time. A data directory runs one process at a
 * time, as its lock has it.
 */
export const createMembersWorld = (freezes: Freeze = 'machine') => {
  const register = createMemoryMemberRegister()
  const leaseRegister = createMemoryLeaseRegister()
  const logger = createRecordingLogger()
  /** When an incarnation was last heard of, in time in which there was no election. */
  const heard = new Map<string, number>()
  const wronged: Array<string> = []
  const processes: Array<Process> = []
  /** Who was given which token of which lease. */
  const holdings: Array<{ readonly lease: string; readonly token: number; readonly incarnation: string }> = []
  const runs = (phase: Phase): boolean => phase === 'starting' || phase === 'up'
  let now = 0
  let answering = 0
  let isElecting = false

  const start = (directory: string, { name = directory, line = 'well', ttl = TTL, leases: sought = [] }: Starting = {}): Process => {
    const incarnation = `run-${processes.length}`
    const timers = createManualTimers()
    let phase: Phase = 'starting'
    let isFrozen = false
    let frozen = 0
    let members: Members | null = null
    let leases: Leases | null = null
    let why = ''
    let past: { readonly members: ReadonlyArray<Entry>; readonly leases: ReadonlyArray<Lease> } = { members: [], leases: [] }
    const held = new Map<string, Held>()
    const lost: Array<string> = []

    const asked = async <A>(make: () => Promise<Either<string, A>>): Promise<Either<string, A>> => {
      if (phase === 'gone') return new Promise(() => undefined)
      if (line === 'cut' || line === 'deposed' || isElecting) return E.left('cut off')
      const outcome = await make()
      return line === 'mute' || line === 'mute-writes' ? E.left('the answer is lost') : outcome
    }
    const hearing = (make: () => Promise<Either<string, boolean>>) => () => {
      heard.set(incarnation, answering)
      return make()
    }
    const shown = <A>(old: () => A, look: () => Promise<Either<string, A>>) => async (): Promise<Either<string, A>> => {
      if (phase !== 'gone' && line === 'deposed') return E.right(old())
      return phase !== 'gone' && line === 'mute-writes' && !isElecting ? look() : asked(look)
    }
    /** Nobody who beats is judged. */
    const judging = ({ incarnation: other }: Entry | { readonly incarnation: string }): void => {
      const silence = answering - (heard.get(other) ?? 0)
      const lives = processes.some((one) => one.incarnation === other && runs(one.phase()))
      if (other !== incarnation && lives && silence < TTL - STEP) wronged.push(`${other} by ${incarnation} after ${silence} ms`)
    }
    const struck = (seen: Entry, make: () => Promise<Either<string, boolean>>) => async () => {
      const outcome = await make()
      if (E.isRight(outcome) && outcome.right && seen.state !== 'stopping') judging(seen)
      return outcome
    }
    const own: MemberRegister = {
      read: shown(() => past.members, register.read),
      enter: (entry) => asked(hearing(() => register.enter(entry))),
      replace: (seen, entry) => asked(struck(seen, hearing(() => register.replace(seen, entry)))),
      remove: (seen) => asked(struck(seen, () => register.remove(seen))),
      beat: (entry) => asked(hearing(() => register.beat(entry))),
      leave: (entry) => asked(() => register.leave(entry)),
    }
    const ownLeases: LeaseRegister = {
      read: shown(() => past.leases, leaseRegister.read),
      take: (lease, seen, by) => asked(() => leaseRegister.take(lease, seen, by)),
      release: (lease, by, token) => asked(() => leaseRegister.release(lease, by, token)),
    }
    const claim = { name, incarnation, directory, host: 'here', pid: processes.length, since: String(now) }
    const { monotonic } = timers
    void joinMembers({ register: own, timers, monotonic, logger }, claim, PROFILE, ttl).then(
      (joined) => {
        members = joined
        leases = createLeases({ register: ownLeases, members: joined, timers, logger, pauseMs: TTL / 5 })
        phase = 'up'
        joined.onLost((member) => {
          lost.push(member.incarnation)
          judging(member)
        })
        for (const lease of sought) process.seek(lease)
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
    const upNow = <A>(one: A | null): A => {
      if (one === null) throw new Error(`${incarnation} is not up`)
      return one
    }
    const process: Process = {
      directory, incarnation, lost,
      phase: () => phase,
      why: () => why,
      members: () => upNow(members),
      leases: () => upNow(leases),
      seek: (lease) => {
        const seeking = upNow(leases).hold(lease, async ({ token, signal }) => {
          holdings.push({ lease, token, incarnation })
          held.set(lease, { token, signal })
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          held.delete(lease)
        })
        seekers.push(seeking.stop)
      },
      held: (lease) => held.get(lease),
      advance: () => {
        if (phase === 'gone') return
        if (isFrozen) frozen += STEP
        else timers.advance(STEP)
      },
      freeze: () => void (isFrozen = true),
      thaw: () => {
        if (isFrozen && freezes === 'process') timers.standStill(frozen)
        isFrozen = false
        frozen = 0
      },
      lineIs: (kind) => {
        line = kind
        void Promise.all([register.read(), leaseRegister.read()]).then(([before, leasesBefore]) => {
          if (E.isRight(before) && E.isRight(leasesBefore)) past = { members: before.right, leases: leasesBefore.right }
        })
      },
      kill: () => void (phase = 'gone'),
      stop: async () => {
        if (phase === 'up' && !isFrozen) {
          for (const end of seekers) await end()
          await members?.leave()
        }
        phase = 'gone'
      },
    }
    const seekers: Array<() => Promise<void>> = []
    processes.push(process)
    return process
  }

  return {
    register, leaseRegister, processes, wronged, holdings, start,
    warnings: () => logger.lines.filter(({ level }) => level === 'warn').length,
    /** Nobody is answered. */
    elect: (isOn: boolean): void => void (isElecting = isOn),
    isTaken: (directory: string): boolean => processes.some((one) => one.directory === directory && runs(one.phase())),
    up: () => processes.filter(({ phase }) => phase() === 'up'),
    pass: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += STEP) {
        now += STEP
        if (!isElecting) answering += STEP
        for (const { advance } of processes) advance()
        for (let turn = 0; turn < 4; turn += 1) await setImmediate()
      }
    },
  }
}
