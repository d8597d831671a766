import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { NO_CHECKPOINT } from '../../application/ports/documents.ts'
import type { CollectionSpec, Documents } from '../../application/ports/documents.ts'
import type { Environment } from '../../application/ports/environment.ts'
import type { Position } from '../../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { insistently } from '../insistently.ts'

/** One document a projection of which a rebuild was ever asked for where another process runs it. */
const REQUESTS: CollectionSpec = { name: 'rebuild-requests', indexes: [] }
const WITHOUT_CHECKPOINT = { projection: REQUESTS.name, collection: REQUESTS.name }

/** Between two looks of who asks, and of who may be asked. */
const ASKER_MS = 250
const ASKED_MS = 1000

const NOBODY_YET = 'the process that runs the projection has not begun'

interface RebuildRequest {
  /** Names the request: its own revision when it was made. */
  readonly asked: number
  /** Of this document, which changes its own position with it. */
  readonly revision: number
  /** Null until somebody is at it. */
  readonly progress: RebuildProgress | null
  readonly outcome: { readonly rebuilt: Rebuilt } | { readonly refused: string } | null
}

const positionOf = (revision: number): Position => String(revision).padStart(20, '0') as Position

interface RequestsDeps {
  readonly documents: Pick<Documents, 'ensure' | 'find' | 'commit'>
  readonly environment: Pick<Environment, 'random'>
  readonly timers: Timers
  readonly signal: AbortSignal
}

type Rebuild = (onProgress: (progress: RebuildProgress) => void) => Promise<Either<string, Rebuilt>>

/** Someone who can rebuild: null where this process does not run the projection (any more). */
type FindRebuild = (projection: string) => { readonly rebuild: Rebuild; readonly isOver: () => boolean } | null

export interface RebuildRequests {
  /** Has the process that runs the projection rebuild it, whichever that is by then; joins a request that is open. */
  readonly ask: (projection: string, onProgress: (progress: RebuildProgress) => void) => Promise<Either<string, Rebuilt>>
  /** Does what is asked for, for as long as this process runs the projection; resolves after the signal. */
  readonly serve: (projections: ReadonlyArray<string>, find: FindRebuild) => Promise<void>
}

const answerOf = ({ outcome }: RebuildRequest): Either<string, Rebuilt> | null => {
  if (outcome === null) return null
  return 'rebuilt' in outcome ? E.right(outcome.rebuilt) : E.left(outcome.refused)
}

export const createRebuildRequests = (deps: RequestsDeps): RebuildRequests => {
  const { documents, timers, signal } = deps
  const read = async (projections: ReadonlyArray<string>): Promise<ReadonlyMap<string, RebuildRequest>> =>
    orThrow(await documents.find(REQUESTS.name, projections)()) as ReadonlyMap<string, unknown> as ReadonlyMap<string, RebuildRequest>
  /** One of two writers of the same revision is passed over: who must know reads again. */
  const write = async (projection: string, request: RebuildRequest): Promise<void> => {
    const { revision } = request
    const change = {
      kind: 'put', collection: REQUESTS.name, id: projection, document: { ...request }, position: positionOf(revision),
    } as const
    orThrow(await documents.commit(WITHOUT_CHECKPOINT, [change], NO_CHECKPOINT)())
  }

  const open = async (projection: string): Promise<RebuildRequest> => {
    orThrow(await documents.ensure([REQUESTS])())
    const last = (await read([projection])).get(projection)
    if (last !== undefined && last.outcome === null) return last
    const revision = (last?.revision ?? 0) + 1
    await write(projection, { asked: revision, revision, progress: null, outcome: null })
    const made = (await read([projection])).get(projection)
    if (made === undefined) throw new Error('a request was stored and is not there')
    return made
  }

  const ask: RebuildRequests['ask'] = async (projection, onProgress) => {
    const nothingYet: RebuildProgress = { projection, events: 0, share: null, held: null }
    let progress = nothingYet
    const insist = insistently({ ...deps, onHeld: (held) => onProgress({ ...progress, held }) })
    try {
      const { asked } = await insist(() => open(projection))
      for (;;) {
        const request = (await insist(() => read([projection]))).get(projection)
        if (request?.asked !== asked) return E.left('another rebuild was asked for before the outcome of this one was heard of')
        const answer = answerOf(request)
        if (answer !== null) return answer
        progress = request.progress ?? { ...nothingYet, held: NOBODY_YET }
        onProgress(progress)
        await pause(timers, ASKER_MS, signal)
        signal.throwIfAborted()
      }
    } catch (error) {
      if (signal.aborted) return E.left('the process that asked stops; whoever runs the projection goes on with the rebuild')
      return E.left(messageOf(error))
    }
  }

  const serveOne = async (projection: string, found: NonNullable<ReturnType<FindRebuild>>, request: RebuildRequest): Promise<void> => {
    let [told, latest]: [RebuildRequest, RebuildProgress] = [request, { projection, events: 0, share: null, held: null }]
    const tell = async (change: Partial<RebuildRequest>): Promise<void> => {
      told = { ...told, ...change, revision: told.revision + 1 }
      await write(projection, told)
    }
    const ending = new AbortController()
    const telling = async (): Promise<void> => {
      while (!ending.signal.aborted) {
        // What is not told now is told the next time.
        if (told.progress !== latest) await tell({ progress: latest }).catch(() => undefined)
        await pause(timers, ASKER_MS, ending.signal)
      }
    }
    const told_ = telling()
    let outcome: Awaited<ReturnType<Rebuild>>
    try {
      outcome = await found.rebuild((progress) => {
        latest = progress
      })
    } finally {
      ending.abort()
      await told_
    }
    // Broken off with the lease: whoever has it next goes on, and answers.
    if (E.isLeft(outcome) && found.isOver()) return
    const insist = insistently({ ...deps, onHeld: () => undefined })
    const said = E.isRight(outcome) ? { rebuilt: outcome.right } : { refused: outcome.left }
    await insist(() => tell({ outcome: said }))
  }

  const serve: RebuildRequests['serve'] = async (projections, find) => {
    const serving = new Map<string, Promise<void>>()
    const look = async (): Promise<void> => {
      const mine = projections.filter((projection) => find(projection) !== null && !serving.has(projection))
      if (mine.length === 0) return
      for (const [projection, request] of await read(mine)) {
        const found = find(projection)
        if (request.outcome !== null || found === null) continue
        const served = serveOne(projection, found, request).catch(() => undefined).finally(() => serving.delete(projection))
        serving.set(projection, served)
      }
    }
    let isEnsured = false
    while (!signal.aborted) {
      try {
        if (!isEnsured) orThrow(await documents.ensure([REQUESTS])())
        isEnsured = true
        await look()
      } catch {
        // The documents are away: asked again with the next look.
      }
      await pause(timers, ASKED_MS, signal)
    }
    await Promise.all(serving.values())
  }

  return { ask, serve }
}
