import { isPlaceable } from '../../domain/admission/placement.ts'
import type { Worker } from '../../domain/admission/state.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { Members } from '../ports/members.ts'
import type { Timers } from '../ports/timers.ts'
import type { AdmissionActor } from './admission-actor.ts'
import { type PlacingDeps, sendWithRetries } from './send-with-retries.ts'

interface WatchWorkersDeps extends PlacingDeps {
  readonly admission: Pick<AdmissionActor, 'send' | 'state' | 'offering' | 'refresh'>
  readonly members: Pick<Members, 'self' | 'all' | 'onLost' | 'onChange' | 'ownershipProblem'>
  readonly environment: Environment
  readonly timers: Timers
  readonly logger: Logger
}

const CHECK_INTERVAL_MS = 5000
/** Successive checks that must miss a worker before it is removed. A running worker is never unseen that long. */
const CHECKS_BEFORE_REMOVAL = 4

const nameOf = ({ worker, incarnation }: Pick<Worker, 'worker' | 'incarnation'>): string =>
  `${worker} ${incarnation ?? ''}`

/**
 * Removes workers whose process is lost or no longer exists, so their sessions get other workers. It also places
 * waiting sessions when a member offers their models. All processes do this at the same time. Each command names the
 * incarnation of the worker (one run of its process), so only the first command has an effect.
 */
export const watchWorkers = (deps: WatchWorkersDeps): { readonly stop: () => Promise<void> } => {
  const { admission, members, timers, logger } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const working = new Set<Promise<void>>()
  const leaving = new Set<string>()
  /** Number of successive checks that missed a worker, by name and incarnation. */
  let missed: ReadonlyMap<string, number> = new Map()
  let isPlacing = false
  let cancel: () => void = () => undefined

  const track = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => logger.error({ err: error }, 'check of the workers failed'))
      .finally(() => working.delete(guarded))
    working.add(guarded)
  }

  const remove = async (
    { worker, incarnation }: Pick<Worker, 'worker' | 'incarnation'>,
    message: string,
  ): Promise<void> => {
    const name = nameOf({ worker, incarnation })
    if (leaving.has(name)) return
    leaving.add(name)
    logger.warn({ worker, incarnation }, message)
    const command = { type: 'Leave', reason: 'lost', worker, incarnation } as const
    await sendWithRetries(deps, command, signal).finally(() => leaving.delete(name))
  }

  /** One call at a time is enough, because each call places all waiting sessions. */
  const place = async (): Promise<void> => {
    if (isPlacing || !isPlaceable(admission.state(), admission.offering())) return
    isPlacing = true
    await sendWithRetries(deps, { type: 'Place' }, signal).finally(() => { isPlacing = false })
  }

  const unseen = (): ReadonlyArray<Worker> => {
    const seen = new Set(members.all().map(({ name, incarnation }) => nameOf({ worker: name, incarnation })))
    const isOther = ({ worker }: Worker): boolean => worker !== members.self.name
    return admission.state().workers.filter((worker) => isOther(worker) && !seen.has(nameOf(worker)))
  }

  /** A check counts only while this process is connected, because a disconnected process sees no other processes. */
  const check = async (): Promise<void> => {
    await admission.refresh()
    const isSure = unseen().length > 0 && (await members.ownershipProblem()) === null
    const gone = isSure ? unseen() : []
    // The count begins again after a removal, because the worker may have joined again.
    const countOf = (worker: Worker): number => ((missed.get(nameOf(worker)) ?? 0) % CHECKS_BEFORE_REMOVAL) + 1
    missed = new Map(gone.map((worker) => [nameOf(worker), countOf(worker)]))
    for (const worker of gone)
      if (missed.get(nameOf(worker)) === CHECKS_BEFORE_REMOVAL)
        track(remove(worker, 'worker removed, because its process does not run'))
    await place()
  }

  const scheduleCheck = (): void => {
    cancel = timers.after(CHECK_INTERVAL_MS, () =>
      track(check().finally(() => { if (!signal.aborted) scheduleCheck() })))
  }

  const unsubscribes = [
    members.onLost(({ name: worker, incarnation, roles }) => {
      const isWorker = roles.includes('worker')
      if (isWorker) track(remove({ worker, incarnation }, 'worker removed, because its process is lost'))
    }),
    members.onChange(() => track(place())),
  ]
  scheduleCheck()

  return {
    stop: async () => {
      stopping.abort()
      cancel()
      for (const unsubscribe of unsubscribes) unsubscribe()
      await Promise.all(working)
    },
  }
}
