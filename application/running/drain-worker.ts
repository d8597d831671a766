import * as E from 'fp-ts/lib/Either.js'
import type { Rejoining } from '../admission/rejoin-worker.ts'
import { type PlacingDeps, sendWithRetries } from '../admission/send-with-retries.ts'
import { type AdmissionCommand, admissionDecider } from '../../domain/admission/decider.ts'
import { roomsOf } from '../../domain/admission/placement.ts'
import { openOf, type Reservation } from '../../domain/admission/state.ts'
import { fold } from '../../domain/shared/decider.ts'
import { ownOrigin } from '../log/origin.ts'
import type { Logger } from '../ports/environment.ts'
import type { Members } from '../ports/members.ts'
import type { Timers } from '../ports/timers.ts'
import { atMost, pause } from '../waiting.ts'
import type { LiveRuns } from './live-runs.ts'

/** The sessions of this process, as a drain needs them. */
interface DrainedSessions {
  readonly runs: Pick<LiveRuns, 'termOf' | 'finishTranscribing' | 'finishBeforeMove'>
  readonly count: () => number
  readonly flushAll: (limitMs: number) => Promise<void>
}

export interface DrainWorkerDeps extends PlacingDeps {
  readonly members: Pick<Members, 'self' | 'announce' | 'all'>
  readonly sessions: DrainedSessions
  /** Senders can be connected to this process. Nobody sends their received audio again after its stop. */
  readonly hasSockets: boolean
  /** Null when there is no other process that could consider this worker lost. */
  readonly rejoining: Rejoining | null
  readonly timers: Timers
  readonly logger: Logger
  /** Milliseconds for which sessions that no other worker can take may continue (DRAIN_TIMEOUT). 0: no wait. */
  readonly drainTimeout: number
}

/** Time to transcribe the received audio of a session before another worker continues it. */
const HAND_OVER_MS = 2000
/** Time to transcribe the received audio of sessions that outlast the drain. */
const FLUSH_MS = 10_000
/** Longest wait for the log. If it does not answer, the other processes later consider this worker lost. */
const ANSWER_MS = 2000
const POLL_MS = 50

/**
 * Prepares the planned stop of a worker. The worker takes no further sessions. Each session transcribes its received
 * audio and moves to another worker with enough memory. Sessions that no other worker can take may continue for
 * DRAIN_TIMEOUT, unless all processes with sockets stop too. Then the worker leaves. During the drain the sessions must
 * still follow the log.
 */
export const drainWorker = (deps: DrainWorkerDeps) => async (): Promise<void> => {
  const { admission, environment, members, sessions, timers, logger, drainTimeout } = deps
  const { name: worker, incarnation } = members.self
  const deadline = environment.monotonic() + drainTimeout
  /** Sessions whose hand-over was tried. */
  const tried = new Set<number>()

  const hasOtherWorkers = (): boolean =>
    roomsOf(admission.state())
      .some((room) => room.worker !== worker && (admission.offering()?.has(room.worker) ?? true))

  /** The sockets of senders, and their requests to finish, are in processes with this role. */
  const hasApi = (): boolean =>
    members.all().some(({ roles, state }) => roles.includes('api') && state !== 'stopping')

  const sendCommand = async (command: AdmissionCommand): Promise<void> => {
    const answering = new AbortController()
    const sent = sendWithRetries(deps, command, answering.signal)
    await atMost(timers, ANSWER_MS, sent)
    answering.abort()
  }

  const moveOf = ({ liveId, term }: Reservation) =>
    ({ type: 'Move', liveId, term, to: null, offering: admission.offering() }) as const

  /** Returns the sessions that together fit on other workers. */
  const movable = (): ReadonlyArray<Reservation> => {
    let state = admission.state()
    return openOf(state, worker).filter((held) => {
      if (tried.has(held.liveId) || sessions.runs.termOf(held.liveId) !== held.term) return false
      const decided = admissionDecider.decide({ ...moveOf(held), at: environment.now() }, state)
      if (E.isLeft(decided)) return false
      state = fold(admissionDecider, decided.right, state)
      return true
    })
  }

  /** If the process of the sender goes on running, it sends the audio after the last final to the next worker. */
  const finishOne = deps.hasSockets ? sessions.runs.finishTranscribing : sessions.runs.finishBeforeMove

  const handOver = async (held: Reservation): Promise<void> => {
    tried.add(held.liveId)
    await atMost(timers, HAND_OVER_MS, finishOne(held.liveId, HAND_OVER_MS))
    const moved = await admission.send({ command: moveOf(held), ...ownOrigin(deps) })
    // The session moves when this worker leaves.
    if (E.isLeft(moved)) {
      logger.warn({ liveId: held.liveId, refusal: moved.left._tag }, 'a session could not be handed over')
    }
  }

  const handOverAll = async (): Promise<void> => {
    let isDraining = false
    while (sessions.count() > 0) {
      if (!isDraining && hasOtherWorkers()) {
        isDraining = true
        await sendCommand({ type: 'Drain', worker, incarnation })
      }
      await Promise.all(movable().map(handOver))
      if (sessions.count() === 0 || environment.monotonic() >= deadline || !hasApi()) break
      await pause(timers, POLL_MS)
    }
    // The remaining sessions also transcribe their received audio.
    await sessions.flushAll(FLUSH_MS)
  }

  if (deps.rejoining !== null) await atMost(timers, ANSWER_MS, deps.rejoining.stop())
  members.announce({ state: 'draining' })
  if (drainTimeout > 0) await handOverAll()
  const leave = { type: 'Leave', reason: 'stopped', worker, incarnation } as const
  if (hasOtherWorkers()) await sendCommand(leave)
}
