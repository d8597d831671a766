import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { type CollectionSpec, type Documents, NO_CHECKPOINT } from '../../application/ports/documents.ts'
import type { Environment } from '../../application/ports/environment.ts'
import type { Position } from '../../application/ports/event-store.ts'
import type { RebuildProgress, Rebuilt } from '../../application/ports/projector.ts'
import type { Timers } from '../../application/ports/timers.ts'
import { pause } from '../../application/waiting.ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { retryWhileUnavailable } from '../retry-while-unavailable.ts'

/** One document for each projection whose rebuild was requested by a process that does not run it. */
const REQUESTS: CollectionSpec = { name: 'rebuild-requests', indexes: [] }
const WITHOUT_CHECKPOINT = { projection: REQUESTS.name, collection: REQUESTS.name }

/** Polling intervals of the requesting process and of the process that runs the projection. */
const REQUESTER_POLL_MS = 250
const RUNNER_POLL_MS = 1000

const NOT_BEGUN = 'the process that runs the projection has not begun the rebuild'

interface RebuildRequest {
  /** Id of the request: the revision of the document when the request was made. */
  readonly asked: number
  /** Revision of this document. Its position in the store is made from it. */
  readonly revision: number
  /** Null until the rebuild begins. */
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

/** Finds the runner of a projection in this process. Null when this process does not run the projection. */
type FindRebuild = (projection: string) => { readonly rebuild: Rebuild; readonly hasStopped: () => boolean } | null

export interface RebuildRequests {
  /**
   * Requests a rebuild from the process that runs the projection, and waits for its result. Joins an open request.
   * Left: why there is no result.
   */
  readonly request: (
    projection: string,
    onProgress: (progress: RebuildProgress) => void,
  ) => Promise<Either<string, Rebuilt>>
  /** Serves requests for the projections that this process runs. Resolves after the signal has aborted. */
  readonly serve: (projections: ReadonlyArray<string>, find: FindRebuild) => Promise<void>
}

const answerOf = ({ outcome }: RebuildRequest): Either<string, Rebuilt> | null => {
  if (outcome === null) return null
  return 'rebuilt' in outcome ? E.right(outcome.rebuilt) : E.left(outcome.refused)
}

export const createRebuildRequests = (deps: RequestsDeps): RebuildRequests => {
  const { documents, timers, signal } = deps
  const read = async (projections: ReadonlyArray<string>): Promise<ReadonlyMap<string, RebuildRequest>> => {
    const found: ReadonlyMap<string, unknown> = orThrow(await documents.find(REQUESTS.name, projections))
    return found as ReadonlyMap<string, RebuildRequest>
  }
  /** If two processes write the same revision, the second write changes nothing. A later read shows the result. */
  const write = async (projection: string, request: RebuildRequest): Promise<void> => {
    const { revision } = request
    const change = {
      kind: 'put', collection: REQUESTS.name, id: projection, document: { ...request }, position: positionOf(revision),
    } as const
    orThrow(await documents.commit(WITHOUT_CHECKPOINT, [change], NO_CHECKPOINT))
  }

  const open = async (projection: string): Promise<RebuildRequest> => {
    orThrow(await documents.ensure([REQUESTS]))
    const last = (await read([projection])).get(projection)
    if (last !== undefined && last.outcome === null) return last
    const revision = (last?.revision ?? 0) + 1
    await write(projection, { asked: revision, revision, progress: null, outcome: null })
    const stored = (await read([projection])).get(projection)
    if (stored === undefined) throw new Error('the stored rebuild request was not found')
    return stored
  }

  const requestRebuild: RebuildRequests['request'] = async (projection, onProgress) => {
    const nothingYet: RebuildProgress = { projection, events: 0, share: null, held: null }
    let progress = nothingYet
    const retrying = retryWhileUnavailable({ ...deps, onWait: (held) => onProgress({ ...progress, held }) })
    try {
      const { asked } = await retrying(() => open(projection))
      for (;;) {
        const request = (await retrying(() => read([projection]))).get(projection)
        if (request?.asked !== asked) return E.left('another rebuild was requested before this result was read')
        const answer = answerOf(request)
        if (answer !== null) return answer
        progress = request.progress ?? { ...nothingYet, held: NOT_BEGUN }
        onProgress(progress)
        await pause(timers, REQUESTER_POLL_MS, signal)
        signal.throwIfAborted()
      }
    } catch (error) {
      const reason = 'this process stops. The process that runs the projection continues the rebuild'
      return E.left(signal.aborted ? reason : messageOf(error))
    }
  }

  const serveRequest = async (
    projection: string,
    runner: NonNullable<ReturnType<FindRebuild>>,
    request: RebuildRequest,
  ): Promise<void> => {
    let written = request
    let latest: RebuildProgress = { projection, events: 0, share: null, held: null }
    const update = async (change: Partial<RebuildRequest>): Promise<void> => {
      written = { ...written, ...change, revision: written.revision + 1 }
      await write(projection, written)
    }
    const ending = new AbortController()
    const writeProgress = async (): Promise<void> => {
      while (!ending.signal.aborted) {
        // A failed write is repeated with the next progress.
        if (written.progress !== latest) await update({ progress: latest }).catch(() => undefined)
        await pause(timers, REQUESTER_POLL_MS, ending.signal)
      }
    }
    const writing = writeProgress()
    let outcome: Awaited<ReturnType<Rebuild>>
    try {
      outcome = await runner.rebuild((progress) => {
        latest = progress
      })
    } finally {
      ending.abort()
      await writing
    }
    // The lease was lost: the next holder continues the rebuild and answers the request.
    if (E.isLeft(outcome) && runner.hasStopped()) return
    const retrying = retryWhileUnavailable({ ...deps, onWait: () => undefined })
    const result = E.isRight(outcome) ? { rebuilt: outcome.right } : { refused: outcome.left }
    await retrying(() => update({ outcome: result }))
  }

  const serve: RebuildRequests['serve'] = async (projections, find) => {
    const serving = new Map<string, Promise<void>>()
    const poll = async (): Promise<void> => {
      const own = projections.filter((projection) => find(projection) !== null && !serving.has(projection))
      if (own.length === 0) return
      for (const [projection, request] of await read(own)) {
        const runner = find(projection)
        if (request.outcome !== null || runner === null) continue
        const served = serveRequest(projection, runner, request)
          .catch(() => undefined)
          .finally(() => serving.delete(projection))
        serving.set(projection, served)
      }
    }
    let isEnsured = false
    while (!signal.aborted) {
      try {
        if (!isEnsured) orThrow(await documents.ensure([REQUESTS]))
        isEnsured = true
        await poll()
      } catch {
        // The documents are unavailable. The next poll tries again.
      }
      await pause(timers, RUNNER_POLL_MS, signal)
    }
    await Promise.all(serving.values())
  }

  return { request: requestRebuild, serve }
}
