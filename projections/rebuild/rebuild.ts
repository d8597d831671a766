import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { MOVED } from '../../application/ports/documents.ts'
import type { Documents } from '../../application/ports/documents.ts'
import type { Environment } from '../../application/ports/environment.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import type { EventStore, Position, SubscriptionMessage } from '../../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { BATCH_SIZE, differencesOf, foldLog, stillThere } from '../fold-log.ts'
import type { Difference, Folded } from '../fold-log.ts'
import { discardStaged, isStaged, resumeOrBegin, stagedOf } from './half-built.ts'
import { insistently } from '../insistently.ts'
import { modelOf } from '../projection.ts'
import type { Projection } from '../projection.ts'
import { createRebuildNotes } from './rebuild-notes.ts'

/** Rounds of catching up before writers are made to wait. */
const MAX_ROUNDS = 20
/** Events of one step where a store has no time for more. */
const SMALLEST_BATCH = 50
/** Differences that are looked at again while writers wait. */
const MAX_SECOND_LOOKS = 1000

export interface RebuildDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>
  readonly documents: Documents
  readonly projection: Projection
  /** Names the code that folds: what other code has begun is not gone on with. */
  readonly code: string
  readonly environment: Pick<Environment, 'monotonic' | 'random'>
  readonly timers: Timers
  /** Where the read model in use stands; null while it cannot be trusted to get anywhere. */
  readonly standing: () => Promise<Position | null>
  /** Runs while nobody writes the read model in use. */
  readonly exclusively: <A>(run: () => Promise<A>) => Promise<A>
  /** Breaks it off; the next one goes on from there. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: RebuildProgress) => void
}

/**
 * What share of the log lies before a position. Opaque as positions are, those of all our stores begin with a number
 * of fixed width that grows with the log; null where one does not.
 */
export const shareOf = (position: Position, head: Position): number | null => {
  const [done, all] = [position, head].map((text) => /^\d+/.exec(text)?.[0])
  if (done === undefined || all === undefined || done.length !== all.length || Number(all) === 0) return null
  return Math.min(1, Number(done) / Number(all))
}

/** The log, where it is whole: what a damaged row said may be known to the read model in use, and to nobody else. */
const wholeLog = (store: RebuildDeps['store']): RebuildDeps['store'] => ({
  ...store,
  subscribe: async function* (...asked): AsyncGenerator<SubscriptionMessage, void> {
    for await (const message of store.subscribe(...asked)) {
      if (message.kind === 'damaged') {
        const { position, stream } = message
        throw new Error(`position ${position} (${stream}) is not what was written: restore a backup first`)
      }
      yield message
    }
  },
})

const build = async (deps: RebuildDeps): Promise<Rebuilt> => {
  const { documents, projection, code, environment, signal, onProgress } = deps
  const store = wholeLog(deps.store)
  const staged = stagedOf(projection)
  const since = environment.monotonic()
  let events = 0
  let share: number | null = null
  const tell = (held: string | null): void => onProgress({ projection: projection.name, events, share, held })
  const insist = insistently({ ...deps, onHeld: tell })
  const begun = await insist(() => resumeOrBegin(deps))
  let { reached } = begun
  const resumed = reached.position !== BEGINNING

  const onStep = (step: Folded, to: Position): void => {
    events += step.events
    reached = step.reached
    share = shareOf(reached.position, to)
    tell(null)
  }
  const advance = (to: Position): Promise<void> => {
    // Half as many after each failure: a store that is too slow for a step is not asked for the same again and again.
    let next = BATCH_SIZE
    return insist(async () => {
      if (to <= reached.position) return
      const batchSize = next
      next = Math.max(SMALLEST_BATCH, next / 2)
      const follow = (step: Folded): void => onStep(step, to)
      await foldLog({ store, documents }, staged, { from: reached, to, signal, batchSize, onStep: follow })
    }, () => reached.position)
  }
  /** The position to reach, and whether the read model in use stands there too, so that the two can be compared. */
  const goal = (): Promise<readonly [Position, boolean]> =>
    insist(async () => {
      const [standing, head] = [await deps.standing(), orThrow(await store.head()())]
      return standing === null || standing > head ? [head, false] : [standing, standing >= reached.position]
    })
  const [inUse, anew] = [projection, staged].map(({ collection }) => ({ documents, collection: collection.name }))
  if (inUse === undefined || anew === undefined) throw new Error('unreachable')

  const compare = async (): Promise<ReadonlyArray<Difference> | null> => {
    if (!(await goal())[1]) return null
    const patient = (one: typeof inUse) => ({ ...one, documents: { ...documents, scan: scanning } })
    const scanning: Documents['scan'] =
      (...page) =>
      () =>
        insist(async () => E.right(orThrow(await documents.scan(...page)())))
    const found: Array<Difference> = []
    for await (const difference of differencesOf(patient(inUse), patient(anew))) found.push(difference)
    return found
  }
  const secondLook = async (found: ReadonlyArray<Difference>): Promise<number> =>
    found.length > MAX_SECOND_LOOKS ? found.length : (await insist(() => stillThere(found, inUse, anew))).length

  const promote = async (): Promise<void> => {
    await insist(() => createRebuildNotes(documents, projection).write({ code, state: 'promoting', place: begun.places[0] }))
    await insist(async () => {
      const done = await documents.promote(modelOf(staged), modelOf(projection), begun.places)()
      if (E.isRight(done)) return
      if (done.left.reason === MOVED.reason) throw new Error(MOVED.reason)
      // It may have been done all the same, or in part: only what still stands as it was can be tried again.
      if (orThrow(await documents.checkpoint(modelOf(staged))()).position === BEGINNING && reached.position !== BEGINNING) return
      if (await isStaged(deps)) orThrow(done)
      throw new Error(`what was built could not be put in its place: ${done.left.reason}`)
    })
    await insist(() => createRebuildNotes(documents, projection).write({ code, state: 'ended', place: '' }))
  }

  // Each round is as long as the log grew in the one before.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const [to] = await goal()
    if (to <= reached.position) break
    await advance(to)
  }
  const suspects = await compare()
  const corrected = await deps.exclusively(async () => {
    const [to, isComparable] = await goal()
    await advance(to)
    const differing = suspects === null || !isComparable ? null : await secondLook(suspects)
    // Whoever writes the model in use may be behind; what comes to it again changes nothing.
    await advance(await insist(async () => orThrow(await store.head()())))
    await promote()
    return differing
  })
  const seconds = (environment.monotonic() - since) / 1000
  return { projection: projection.name, events, resumed, corrected, position: reached.position, seconds }
}

/**
 * Blue/green: folds the log into documents of its own, compares, and puts them in the place of those in use, which
 * serve until then. It goes on from where an interrupted one has come, and waits for stores that are away. Any other
 * error, and a damaged row, ends it, and nothing has changed.
 */
export const rebuildReadModel = async (deps: RebuildDeps): Promise<Either<string, Rebuilt>> => {
  try {
    return E.right(await build(deps))
  } catch (error) {
    if (deps.signal.aborted) return E.left('it was broken off; the next one goes on from there')
    const reason = messageOf(error)
    // What is left of it where this fails too is discarded by the next one; what others build is theirs.
    if (reason !== MOVED.reason) await discardStaged(deps).catch(() => undefined)
    return E.left(reason)
  }
}
