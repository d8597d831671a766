import * as E from 'fp-ts/lib/Either.js'
import type { Rejoining } from '../../admission/rejoin-worker.ts'
import { sendSurely } from '../../admission/send-surely.ts'
import type { PlacingDeps } from '../../admission/send-surely.ts'
import { admissionDecider } from '../../../domain/admission/decider.ts'
import type { AdmissionCommand } from '../../../domain/admission/decider.ts'
import { roomsOf } from '../../../domain/admission/placement.ts'
import { openOf } from '../../../domain/admission/state.ts'
import type { Reservation } from '../../../domain/admission/state.ts'
import { fold } from '../../../domain/shared/decider.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Logger } from '../../ports/environment.ts'
import type { Members } from '../../ports/peers/members.ts'
import type { Timers } from '../../ports/timers.ts'
import { atMost, pause } from '../../waiting.ts'
import type { LiveRuns } from './live-runs.ts'

/** The lives that run in this process, as far as a drain is about them. */
interface DrainedSessions {
  readonly runs: Pick<LiveRuns, 'termOf' | 'speakOut'>
  readonly count: () => number
  readonly flushAll: (limitMs: number) => Promise<void>
}

export interface DrainWorkerDeps extends PlacingDeps {
  readonly members: Pick<Members, 'self' | 'announce'>
  readonly sessions: DrainedSessions
  /** Null where nobody can take this worker for lost. */
  readonly rejoining: Rejoining | null
  readonly timers: Timers
  readonly logger: Logger
  /** Milliseconds that lives which nobody else takes are given; 0: none, and nothing is waited for (DRAIN_TIMEOUT). */
  readonly drainTimeout: number
}

/** For what a live has heard before another worker goes on with it. */
const HAND_OVER_MS = 2000
/** For what lives that outlast the drain have heard. */
const LAST_WORDS_MS = 10_000
/** For the log: whoever does not answer by then is not waited for, and the others find this worker lost. */
const ANSWER_MS = 2000
const LOOK_MS = 50

/**
 * Ends a worker as planned. Where others have joined, it takes no further live, each of its own speaks out and goes on at
 * another that has room, and then it leaves. Lives that nobody takes, all of them where it is alone, are given DRAIN_TIMEOUT
 * to end by themselves, and their last words. Its sessions must still hear the log meanwhile.
 */
export const drainWorker = (deps: DrainWorkerDeps) => async (): Promise<void> => {
  const { admission, environment, members, sessions, timers, logger, drainTimeout } = deps
  const { name: worker, incarnation } = members.self
  const deadline = environment.monotonic() + drainTimeout
  const tried = new Set<number>()

  const others = (): boolean =>
    roomsOf(admission.state()).some((room) => room.worker !== worker && (admission.offering()?.has(room.worker) ?? true))

  const say = async (command: AdmissionCommand): Promise<void> => {
    const answering = new AbortController()
    const said = sendSurely(deps, command, answering.signal)
    await atMost(timers, ANSWER_MS, said)
    answering.abort()
  }

  const moveOf = ({ liveId, term }: Reservation): AdmissionCommand =>
    ({ type: 'Move', liveId, term, to: null, offering: admission.offering(), at: environment.now() })

  /** Those for which, one after another, there is room elsewhere. */
  const movable = (): ReadonlyArray<Reservation> => {
    let state = admission.state()
    return openOf(state, worker).filter((held) => {
      if (tried.has(held.liveId) || sessions.runs.termOf(held.liveId) !== held.term) return false
      const decided = admissionDecider.decide(moveOf(held), state)
      if (E.isLeft(decided)) return false
      state = fold(admissionDecider, decided.right, state)
      return true
    })
  }

  /** Audio that its sender still sends is not heard here, and so is sent again to the worker that goes on. */
  const handOver = async (held: Reservation): Promise<void> => {
    tried.add(held.liveId)
    await atMost(timers, HAND_OVER_MS, sessions.runs.speakOut(held.liveId, HAND_OVER_MS))
    const moved = await admission.send({ command: moveOf(held), ...ownOrigin(deps) })()
    // It goes where there is room when this worker leaves.
    if (E.isLeft(moved)) logger.warn({ liveId: held.liveId, refusal: moved.left._tag }, 'a live could not be handed over')
  }

  const giveAway = async (): Promise<void> => {
    let isDraining = false
    while (sessions.count() > 0) {
      if (!isDraining && others()) {
        isDraining = true
        await say({ type: 'Drain', worker, incarnation, at: environment.now() })
      }
      await Promise.all(movable().map(handOver))
      if (sessions.count() === 0 || environment.monotonic() >= deadline) break
      await pause(timers, LOOK_MS)
    }
    // What lives have heard by now is still sent.
    await sessions.flushAll(LAST_WORDS_MS)
  }

  if (deps.rejoining !== null) await atMost(timers, ANSWER_MS, deps.rejoining.stop())
  members.announce({ state: 'draining' })
  if (drainTimeout > 0) await giveAway()
  if (others()) await say({ type: 'Leave', reason: 'stopped', worker, incarnation, at: environment.now() })
}
