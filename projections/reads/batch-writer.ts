import type { Checkpoint, Documents } from '../../application/ports/documents.ts'
import type { Environment, Logger } from '../../application/ports/environment.ts'
import type { StuckAt } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause, retryDelay } from '../../application/waiting.ts'
import { findStuck } from './find-stuck.ts'
import { describe, type List, reportFailure, reportSuccess } from './list.ts'
import { commitSteps, type FailedStep, foldStep, type Step } from './steps.ts'

export interface BatchWriterDeps {
  readonly documents: Pick<Documents, 'find' | 'commitAll'>
  readonly logger: Pick<Logger, 'error'>
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  /** The lists of this read. */
  readonly members: ReadonlySet<List>
  /** Ends the retries. */
  readonly signal: AbortSignal
  /** Takes a list that keeps failing, while others succeed, out of `members`. */
  readonly dismiss: (list: List) => void
}

export interface BatchWriter {
  /**
   * Commits the steps of a batch, until every list that is still a member has reached its end. `isAwaited`: writers
   * wait for these events, so a list that fails leaves at once.
   */
  readonly write: (steps: ReadonlyArray<Step>, reached: Checkpoint, isAwaited: boolean) => Promise<void>
  /** Resolves when the present commit has ended. */
  readonly settled: () => Promise<void>
}

/** Milliseconds. The waits are short, because the service is ready only when its lists work. */
const RETRY = { first: 20, longest: 1000 }
/** Milliseconds between the attempts of a list that is stuck, until somebody mends its document. */
const STUCK_RETRY = { first: 1000, longest: 30_000 }
/**
 * A list that fails in an old log leaves the others after this number of attempts: early after a defect, such as a
 * document that cannot be folded, and late if its store is unavailable, because a slow store is so now and then.
 */
const SHARED_ATTEMPTS = { defect: 3, unavailable: 8 }

const isLastAttempt = ({ error }: FailedStep, attempt: number): boolean =>
  attempt >= (error instanceof Error ? SHARED_ATTEMPTS.defect : SHARED_ATTEMPTS.unavailable)

const isSamePlace = (a: StuckAt | null, b: StuckAt): boolean =>
  a !== null && a.stream === b.stream && a.revision === b.revision && a.document === b.document

export const createBatchWriter = (deps: BatchWriterDeps): BatchWriter => {
  const { documents, logger, environment, timers, members, signal, dismiss } = deps
  let present: Promise<unknown> = Promise.resolve()
  const during = <A>(work: Promise<A>): Promise<A> => {
    present = work
    return work
  }

  const succeeded = (steps: ReadonlyArray<Step>): void => {
    for (const { list } of steps) {
      if (!members.has(list)) continue
      reportSuccess(list)
      list.report.reached(list.applied.position)
    }
  }

  /** Names the event at which the only list of this read is stuck. Null: it fails for another reason. */
  const reportStuck = async (list: List, { events }: Step, known: StuckAt | null): Promise<StuckAt | null> => {
    const stuck = await during(findStuck(documents, list, events))
    if (!members.has(list) || stuck === null) return null
    const { at, error } = stuck
    list.report.reached(list.applied.position)
    list.report.stuck(at)
    if (!isSamePlace(known, at))
      logger.error({ projection: list.projection.name, ...at, reason: describe(error) }, 'a list is stuck at an event')
    return at
  }

  const write: BatchWriter['write'] = async (steps, reached, isAwaited) => {
    let [rest, stuckAt]: [ReadonlyArray<Step>, StuckAt | null] = [steps, null]
    for (let attempt = 1; ; attempt++) {
      rest = rest.filter(({ list }) => members.has(list))
      if (rest.length === 0) return
      const all = await during(commitSteps(documents, rest, reached))
      const failing = all.filter(({ step }) => members.has(step.list))
      succeeded(rest.filter((step) => all.every((other) => other.step !== step)))
      if (failing.length === 0 || signal.aborted) return
      for (const { step, error } of failing) reportFailure(step.list, error)
      const [first] = failing
      if (failing.length < members.size && (isAwaited || failing.every((one) => isLastAttempt(one, attempt)))) {
        for (const { step } of failing) dismiss(step.list)
        return
      }
      if (members.size === 1 && first !== undefined) stuckAt = await reportStuck(first.step.list, first.step, stuckAt)
      const delay = retryDelay(stuckAt === null ? RETRY : STUCK_RETRY, attempt - 1, environment.random())
      await pause(timers, delay, signal)
      rest = await Promise.all(failing.map(({ step }) => foldStep(documents, step.list, step.events)))
    }
  }
  return { write, settled: () => present.then(() => undefined, () => undefined) }
}
