import { setImmediate } from 'node:timers/promises'
import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Leases } from '../../../application/ports/leases.ts'
import { ROLES, type Members, type Profile } from '../../../application/ports/members.ts'
import { createLeases } from '../../../infrastructure/mongodb/leases.ts'
import type { Lease, LeaseRegister } from '../../../infrastructure/mongodb/lease-register.ts'
import { joinMembers } from '../../../infrastructure/mongodb/members.ts'
import type { Entry, MemberRegister } from '../../../infrastructure/mongodb/member-register.ts'
import { createManualTimers } from '../doubles/manual-timers.ts'
import { createMemoryLeaseRegister } from '../doubles/memory/lease-register.ts'
import { createMemoryMemberRegister } from '../doubles/memory/member-register.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'

export const TTL = 5000

/** The profile of a process with all roles. */
export const PROFILE: Profile = { roles: ROLES, version: '1.0.0', speaks: { log: 1, relay: 1 } }

/** One step of virtual time: a fifth of the time between two reads of the register. */
export const STEP = TTL / 50

type Phase = 'starting' | 'up' | 'refused' | 'replaced' | 'gone'

/**
 * The connection of a process to the register. `open`: requests are answered. `cut`: requests do not arrive. `mute`:
 * requests take effect, but the answers are lost. `mute-writes`: only the answers to writes are lost. `deposed`: reads
 * return an old state and writes do not arrive, as with a deposed primary.
 */
type Line = 'open' | 'cut' | 'mute' | 'mute-writes' | 'deposed'

/** The contents of both registers. */
interface State {
  readonly members: ReadonlyArray<Entry>
  readonly leases: ReadonlyArray<Lease>
}

interface Held {
  readonly token: number
  readonly signal: AbortSignal
}

interface Process {
  readonly directory: string
  readonly incarnation: string
  readonly phase: () => Phase
  /** The reason why the process was refused or must end. */
  readonly reason: () => string
  readonly members: () => Members
  readonly leases: () => Leases
  /** Requests the lease and works until the lease is lost. */
  readonly requestLease: (lease: string) => void
  /** The lease, if the process believes that it holds it. */
  readonly held: (lease: string) => Held | undefined
  /** The incarnations that this process declared lost. */
  readonly lost: ReadonlyArray<string>
  readonly advance: () => void
  readonly freeze: () => void
  /** Continues the process. Its timers are late. */
  readonly thaw: () => void
  readonly setLine: (kind: Line) => void
  /** Ends the process without notice, as SIGKILL does. */
  readonly kill: () => void
  /** Ends the process in order: it releases its leases and leaves the register, if it can reach it. */
  readonly stop: () => Promise<void>
}

interface Starting {
  readonly name?: string
  readonly line?: Line
  readonly ttl?: number
  readonly leases?: ReadonlyArray<string>
}

/** The scope of a freeze. The clock of a process stands still only when the whole machine freezes. */
type Freeze = 'machine' | 'process'

/**
 * Processes that share a register of members and leases, in virtual time. A data directory runs one process at a time,
 * as its lock file ensures in the product.
 */
export const createMembersWorld = (freezeScope: Freeze = 'machine') => {
  const register = createMemoryMemberRegister()
  const leaseRegister = createMemoryLeaseRegister()
  const logger = createRecordingLogger()
  /** The `answeringTime` of the last heartbeat of each incarnation (a run of a process). */
  const lastBeats = new Map<string, number>()
  /** Processes that were declared lost although they sent heartbeats. */
  const wronglyLost: Array<string> = []
  const processes: Array<Process> = []
  /** Every token of every lease, with its holder. */
  const holdings: Array<{ readonly lease: string; readonly token: number; readonly incarnation: string }> = []
  const runs = (phase: Phase): boolean => phase === 'starting' || phase === 'up'
  let now = 0
  /** Virtual time in milliseconds. It stands still during elections. */
  let answeringTime = 0
  let isElecting = false

  const start = (directory: string, options: Starting = {}): Process => {
    const { name = directory, ttl = TTL, leases: requested = [] } = options
    let line = options.line ?? 'open'
    const incarnation = `run-${processes.length}`
    const timers = createManualTimers()
    let phase: Phase = 'starting'
    let isFrozen = false
    let frozen = 0
    let members: Members | null = null
    let leases: Leases | null = null
    let reason = ''
    let oldState: State = { members: [], leases: [] }
    const held = new Map<string, Held>()
    const lost: Array<string> = []

    const request = async <A>(send: () => Promise<Either<string, A>>): Promise<Either<string, A>> => {
      if (phase === 'gone') return new Promise(() => undefined)
      if (line === 'cut' || line === 'deposed' || isElecting) return E.left('cut off')
      const outcome = await send()
      return line === 'mute' || line === 'mute-writes' ? E.left('the answer is lost') : outcome
    }
    const withBeat = (send: () => Promise<Either<string, boolean>>) => () => {
      lastBeats.set(incarnation, answeringTime)
      return send()
    }
    const readFrom = <A>(old: () => A, read: () => Promise<Either<string, A>>) => async () => {
      if (phase !== 'gone' && line === 'deposed') return E.right(old())
      return phase !== 'gone' && line === 'mute-writes' && !isElecting ? read() : request(read)
    }
    /** Records a process that was declared lost although it still sends heartbeats. */
    const checkLoss = ({ incarnation: other }: Entry | { readonly incarnation: string }): void => {
      const silence = answeringTime - (lastBeats.get(other) ?? 0)
      const isAlive = processes.some((process) => process.incarnation === other && runs(process.phase()))
      if (other === incarnation || !isAlive || silence >= TTL - STEP) return
      wronglyLost.push(`${other} by ${incarnation} after ${silence} ms`)
    }
    const withLossCheck = (seen: Entry, send: () => Promise<Either<string, boolean>>) => async () => {
      const outcome = await send()
      if (E.isRight(outcome) && outcome.right && seen.state !== 'stopping') checkLoss(seen)
      return outcome
    }
    const own: MemberRegister = {
      read: readFrom(() => oldState.members, register.read),
      enter: (entry) => request(withBeat(() => register.enter(entry))),
      replace: (seen, entry) => request(withLossCheck(seen, withBeat(() => register.replace(seen, entry)))),
      remove: (seen) => request(withLossCheck(seen, () => register.remove(seen))),
      beat: (entry) => request(withBeat(() => register.beat(entry))),
      leave: (entry) => request(() => register.leave(entry)),
    }
    const ownLeases: LeaseRegister = {
      read: readFrom(() => oldState.leases, leaseRegister.read),
      take: (lease, seen, by) => request(() => leaseRegister.take(lease, seen, by)),
      release: (lease, by, token) => request(() => leaseRegister.release(lease, by, token)),
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
          checkLoss(member)
        })
        for (const lease of requested) process.requestLease(lease)
        void joined.replaced.then((cause) => {
          phase = 'replaced'
          reason = cause
        })
      },
      (error: unknown) => {
        phase = 'refused'
        reason = String(error)
      },
    )
    const whenUp = <A>(value: A | null): A => {
      if (value === null) throw new Error(`${incarnation} is not up`)
      return value
    }
    const process: Process = {
      directory, incarnation, lost,
      phase: () => phase,
      reason: () => reason,
      members: () => whenUp(members),
      leases: () => whenUp(leases),
      requestLease: (lease) => {
        const handle = whenUp(leases).hold(lease, async ({ token, signal }) => {
          holdings.push({ lease, token, incarnation })
          held.set(lease, { token, signal })
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
          held.delete(lease)
        })
        stops.push(handle.stop)
      },
      held: (lease) => held.get(lease),
      advance: () => {
        if (phase === 'gone') return
        if (isFrozen) frozen += STEP
        else timers.advance(STEP)
      },
      freeze: () => void (isFrozen = true),
      thaw: () => {
        if (isFrozen && freezeScope === 'process') timers.standStill(frozen)
        isFrozen = false
        frozen = 0
      },
      setLine: (kind) => {
        line = kind
        void Promise.all([register.read(), leaseRegister.read()]).then(([before, leasesBefore]) => {
          if (E.isRight(before) && E.isRight(leasesBefore))
            oldState = { members: before.right, leases: leasesBefore.right }
        })
      },
      kill: () => void (phase = 'gone'),
      stop: async () => {
        if (phase === 'up' && !isFrozen) {
          for (const end of stops) await end()
          await members?.leave()
        }
        phase = 'gone'
      },
    }
    const stops: Array<() => Promise<void>> = []
    processes.push(process)
    return process
  }

  return {
    register, leaseRegister, processes, wronglyLost, holdings, start,
    warnings: () => logger.lines.filter(({ level }) => level === 'warn').length,
    /** Begins or ends an election, during which no request is answered. */
    elect: (isRunning: boolean): void => void (isElecting = isRunning),
    isTaken: (directory: string): boolean =>
      processes.some((process) => process.directory === directory && runs(process.phase())),
    up: () => processes.filter(({ phase }) => phase() === 'up'),
    pass: async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += STEP) {
        now += STEP
        if (!isElecting) answeringTime += STEP
        for (const { advance } of processes) advance()
        for (let turn = 0; turn < 4; turn += 1) await setImmediate()
      }
    },
  }
}
