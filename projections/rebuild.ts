import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Documents } from '../application/ports/documents.ts'
import type { Environment } from '../application/ports/environment.ts'
import { BEGINNING } from '../application/ports/event-store.ts'
import type { EventStore, Position } from '../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../application/ports/projector.ts'
import { differencesOf, foldLog, isStillThere, orThrow } from './fold-log.ts'
import type { Difference } from './fold-log.ts'
import type { Projection } from './projection.ts'

/** Rounds of catching up before writers are made to wait. */
const MAX_ROUNDS = 20
/** Differences that are looked at again while writers wait. */
const MAX_SECOND_LOOKS = 1000

export interface RebuildDeps {
  readonly store: Pick<EventStore, 'subscribe' | 'head'>
  readonly documents: Documents
  readonly projection: Projection
  readonly environment: Pick<Environment, 'monotonic'>
  /** Where the read model in use stands; null while it cannot be trusted to get anywhere. */
  readonly standing: () => Promise<Position | null>
  /** Runs while nobody writes the read model in use. */
  readonly exclusively: <A>(run: () => Promise<A>) => Promise<A>
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

/** The same projection into documents of its own. */
const stagedOf = (projection: Projection): Projection => {
  const name = `${projection.name}-rebuild`
  return { ...projection, name, collection: { ...projection.collection, name: `${projection.collection.name}-rebuild` } }
}

const modelOf = ({ name, collection }: Projection) => ({ projection: name, collection: collection.name })

const build = async (deps: RebuildDeps, staged: Projection): Promise<Rebuilt> => {
  const { store, documents, projection, environment, signal, onProgress } = deps
  const since = environment.monotonic()
  let events = 0
  let reached: Position = BEGINNING
  const advance = async (to: Position): Promise<void> => {
    if (to <= reached) return
    const onStep = (step: { readonly events: number; readonly position: Position }): void => {
      events += step.events
      onProgress({ projection: projection.name, events, share: shareOf(step.position, to) })
    }
    await foldLog({ store, documents }, staged, { from: reached, to, signal, onStep })
    reached = to
  }
  /** The position to reach, and whether the read model in use stands there too, so that the two can be compared. */
  const goal = async (): Promise<readonly [Position, boolean]> => {
    const [standing, head] = [await deps.standing(), orThrow(await store.head()())]
    return standing === null || standing > head ? [head, false] : [standing, true]
  }
  const [inUse, anew] = [projection, staged].map(({ collection }) => ({ documents, collection: collection.name }))
  if (inUse === undefined || anew === undefined) throw new Error('unreachable')

  const compare = async (): Promise<ReadonlyArray<Difference> | null> => {
    if (!(await goal())[1]) return null
    const found: Array<Difference> = []
    for await (const difference of differencesOf(inUse, anew)) found.push(difference)
    return found
  }
  const secondLook = async (found: ReadonlyArray<Difference>): Promise<number> => {
    if (found.length > MAX_SECOND_LOOKS) return found.length
    const still = await Promise.all(found.map((difference) => isStillThere(difference, inUse, anew)))
    return still.filter(Boolean).length
  }

  orThrow(await documents.discard(modelOf(staged))())
  orThrow(await documents.ensure([projection.collection, staged.collection])())
  // Each round is as long as the log grew in the one before.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const [to] = await goal()
    if (to <= reached) break
    await advance(to)
  }
  const suspects = await compare()
  const corrected = await deps.exclusively(async () => {
    const [to, isComparable] = await goal()
    await advance(to)
    const differing = suspects === null || !isComparable ? null : await secondLook(suspects)
    // Whoever writes the model in use may be behind; what comes to it again changes nothing.
    await advance(orThrow(await store.head()()))
    orThrow(await documents.promote(modelOf(staged), modelOf(projection))())
    return differing
  })
  return { projection: projection.name, events, corrected, position: reached, seconds: (environment.monotonic() - since) / 1000 }
}

/**
 * Blue/green: folds the whole log into documents of its own, compares, and puts them in the place of those in use,
 * which serve until then. Any error ends it, and nothing has changed.
 */
export const rebuildReadModel = async (deps: RebuildDeps): Promise<Either<string, Rebuilt>> => {
  const staged = stagedOf(deps.projection)
  try {
    return E.right(await build(deps, staged))
  } catch (error) {
    // What is left of it is discarded by the next one at the latest.
    await deps.documents.discard(modelOf(staged))()
    return E.left(error instanceof Error ? error.message : String(error))
  }
}
