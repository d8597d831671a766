import { isPlaceable } from '../../domain/admission/placement.ts'
import type { Worker } from '../../domain/admission/state.ts'
import type { Environment, Logger } from '../ports/environment.ts'
import type { Members } from '../ports/peers/members.ts'
import type { Timers } from '../ports/timers.ts'
import type { AdmissionActor } from './admission-actor.ts'
import { sendSurely } from './send-surely.ts'
import type { PlacingDeps } from './send-surely.ts'

interface WatchWorkersDeps extends PlacingDeps {
  readonly admission: Pick<AdmissionActor, 'send' | 'state' | 'offering' | 'refresh'>
  readonly members: Pick<Members, 'self' | 'all' | 'onLost' | 'onChange' | 'ownershipProblem'>
  readonly environment: Environment
  readonly timers: Timers
  readonly logger: Logger
}

/** Between two looks for workers that no member is. */
const EVERY_MS = 5000
/** Looks in a row that miss a worker before it is given up: longer than any that is there may be unseen. */
const LOOKS = 4

const nameOf = ({ worker, incarnation }: Pick<Worker, 'worker' | 'incarnation'>): string => `${worker} ${incarnation ?? ''}`

/**
 * What every process does about the workers of others. One that is found lost leaves, so that its lives are given to those
 * that are left; a worker that has joined and that nobody has seen for several looks, as one that ended while nobody
 * watched, leaves as well; and lives that wait are given to whoever can run them as soon as somebody offers what they
 * need. Many processes may say so at once: the incarnation is named, and the first counts.
 */
export const watchWorkers = (deps: WatchWorkersDeps): { readonly stop: () => Promise<void> } => {
  const { admission, members, environment, timers, logger } = deps
  const stopping = new AbortController()
  const { signal } = stopping
  const working = new Set<Promise<void>>()
  /** Workers that are being given up. */
  const leaving = new Set<string>()
  /** How many looks in a row have missed whom. */
  let missed: ReadonlyMap<string, number> = new Map()
  let isPlacing = false
  let cancel: () => void = () => undefined

  const track = (work: Promise<void>): void => {
    const guarded = work
      .catch((error: unknown) => logger.error({ err: error }, 'a worker could not be seen to'))
      .finally(() => working.delete(guarded))
    working.add(guarded)
  }

  const giveUp = async ({ worker, incarnation }: Pick<Worker, 'worker' | 'incarnation'>, why: string): Promise<void> => {
    const name = nameOf({ worker, incarnation })
    if (leaving.has(name)) return
    leaving.add(name)
    logger.warn({ worker, incarnation }, why)
    const command = { type: 'Leave', reason: 'lost', worker, incarnation, at: environment.now() } as const
    await sendSurely(deps, command, signal).finally(() => leaving.delete(name))
  }

  /** One at a time: each looks at all that wait. */
  const place = async (): Promise<void> => {
    if (isPlacing || !isPlaceable(admission.state(), admission.offering())) return
    isPlacing = true
    await sendSurely(deps, { type: 'Place', at: environment.now() }, signal).finally(() => { isPlacing = false })
  }

  const unseen = (): ReadonlyArray<Worker> => {
    const seen = new Set(members.all().map(({ name, incarnation }) => nameOf({ worker: name, incarnation })))
    return admission.state().workers.filter((one) => one.worker !== members.self.name && !seen.has(nameOf(one)))
  }

  /** A look counts only while our own beats are acknowledged: else it is us who see nobody. */
  const look = async (): Promise<void> => {
    await admission.refresh()
    const isSure = unseen().length > 0 && (await members.ownershipProblem()) === null
    const gone = isSure ? unseen() : []
    // Who has joined anew since it was given up is looked for as often as before.
    missed = new Map(gone.map((one) => [nameOf(one), ((missed.get(nameOf(one)) ?? 0) % LOOKS) + 1]))
    for (const one of gone)
      if (missed.get(nameOf(one)) === LOOKS) track(giveUp(one, 'no process is this worker any more: it is given up'))
    await place()
  }

  const lookAgain = (): void => {
    cancel = timers.after(EVERY_MS, () => track(look().finally(() => { if (!signal.aborted) lookAgain() })))
  }

  const silence = [
    members.onLost(({ name: worker, incarnation, roles }) => {
      if (roles.includes('worker')) track(giveUp({ worker, incarnation }, 'a worker is lost: it is given up'))
    }),
    members.onChange(() => track(place())),
  ]
  lookAgain()

  return {
    stop: async () => {
      stopping.abort()
      cancel()
      for (const deafen of silence) deafen()
      await Promise.all(working)
    },
  }
}
