import * as E from 'fp-ts/lib/Either.js'
import type { AdmissionActor } from '../../admission/admission-actor.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Environment, Logger } from '../../ports/environment.ts'
import { type LiveLinks, type Peer, RELAY_VERSION } from '../../ports/live-links.ts'
import type { Members } from '../../ports/members.ts'
import type { Timers } from '../../ports/timers.ts'
import type { Placements } from './placements.ts'

/** Minimum time between two moves of a session, so two processes do not move it back and forth. */
const MIN_INTERVAL_MS = 60_000
/** Longest wait for a worker to show that it is reachable. */
const ANSWER_MS = 2000

interface MoveUnreachableDeps {
  readonly admission: Pick<AdmissionActor, 'send' | 'state' | 'refresh' | 'offering'>
  readonly placements: Placements
  readonly members: Pick<Members, 'self' | 'all'>
  readonly links: Pick<LiveLinks, 'open'>
  readonly environment: Environment
  readonly timers: Timers
  readonly logger: Logger
}

/**
 * Moves a session to a reachable worker when its own worker is alive, but this process, which has its sender, cannot
 * reach it. If no worker is reachable, this process itself is probably cut off, so it moves nothing.
 */
export const moveUnreachable = (deps: MoveUnreachableDeps): ((liveId: number) => void) => {
  const { admission, placements, members, links, timers, logger } = deps
  /** Sessions that are being moved, or were moved within MIN_INTERVAL_MS. */
  const recentlyMoved = new Set<number>()

  /** Returns whether a worker answers. A worker answers even for a session of another worker. */
  const isReachable = (peer: Peer, liveId: number, term: number): Promise<boolean> =>
    new Promise((resolve) => {
      const settle = (hasAnswered: boolean): void => {
        cancel()
        resolve(hasAnswered)
        link.close()
      }
      const cancel = timers.after(ANSWER_MS, () => settle(false))
      const link = links.open(peer, liveId, { message: () => settle(true), closed: () => settle(false) })
      link.send({ kind: 'hello', relay: RELAY_VERSION, term, listens: false })
    })

  const otherWorkers = (worker: string): ReadonlyArray<Peer> => {
    const { workers } = admission.state()
    return members.all().flatMap(({ name, incarnation, address }) => {
      const isWorker = workers.some((joined) => joined.incarnation === incarnation && !joined.isDraining)
      if (!isWorker || name === worker) return []
      if (incarnation === members.self.incarnation) return [{ ...members.self, address: '' }]
      return address === null ? [] : [{ name, incarnation, address }]
    })
  }

  const move = async (liveId: number): Promise<void> => {
    const before = placements.of(liveId)
    await placements.refresh()
    const placement = placements.of(liveId)
    // The session waits for a worker, or has just moved. Then the link first tries the new worker.
    if (placement.kind !== 'member' || before.kind !== 'member' || placement.term !== before.term) return
    for (const peer of otherWorkers(placement.peer.name)) {
      if (!await isReachable(peer, liveId, placement.term)) continue
      const offering = admission.offering()
      const command = { type: 'Move', liveId, term: placement.term, to: peer.name, offering } as const
      const moved = await admission.send({ command, ...ownOrigin(deps) })
      const about = { liveId, from: placement.peer.name, to: peer.name }
      if (E.isRight(moved)) return logger.warn(about, 'the worker of a session was unreachable: the session is moved')
      logger.warn({ ...about, refusal: moved.left._tag }, 'a session of an unreachable worker could not be moved')
      if (moved.left._tag === 'MovedSince') return
    }
  }

  return (liveId) => {
    if (recentlyMoved.has(liveId)) return
    recentlyMoved.add(liveId)
    timers.after(MIN_INTERVAL_MS, () => recentlyMoved.delete(liveId))
    move(liveId).catch((error: unknown) => {
      logger.error({ liveId, error: String(error) }, 'a session could not be moved')
    })
  }
}
