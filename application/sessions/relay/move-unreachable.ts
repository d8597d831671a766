import * as E from 'fp-ts/lib/Either.js'
import type { AdmissionActor } from '../../admission/admission-actor.ts'
import { ownOrigin } from '../../log/origin.ts'
import type { Environment, Logger } from '../../ports/environment.ts'
import type { LiveLinks, Peer } from '../../ports/peers/live-links.ts'
import { RELAY_VERSION } from '../../ports/peers/live-links.ts'
import type { Members } from '../../ports/peers/members.ts'
import type { Timers } from '../../ports/timers.ts'
import type { Whereabouts } from './whereabouts.ts'

/** Between two moves of one live: two processes that reach different workers do not throw it to and fro. */
const ONCE_IN = 60_000
/** For another worker to answer whether it can be reached. */
const ANSWER = 2000

interface MoveUnreachableDeps {
  readonly admission: Pick<AdmissionActor, 'send' | 'state' | 'refresh' | 'offering'>
  readonly whereabouts: Whereabouts
  readonly members: Pick<Members, 'self' | 'all'>
  readonly links: Pick<LiveLinks, 'open'>
  readonly environment: Environment
  readonly timers: Timers
  readonly logger: Logger
}

/**
 * Moves a live whose worker beats, so that nobody takes it for lost, and cannot be reached from here, where its sender is:
 * to a worker that can. Where none can it is us who are cut off, and everything stays as it is.
 */
export const moveUnreachable = (deps: MoveUnreachableDeps): ((liveId: number) => void) => {
  const { admission, whereabouts, members, links, environment, timers, logger } = deps
  /** Lives that are being moved, or were lately. */
  const lately = new Set<number>()

  /** Whether anything is answered there: a worker says of a live that is not its own where that is. */
  const answers = (peer: Peer, liveId: number, term: number): Promise<boolean> =>
    new Promise((resolve) => {
      const settle = (isReached: boolean): void => {
        cancel()
        resolve(isReached)
        link.close()
      }
      const cancel = timers.after(ANSWER, () => settle(false))
      const link = links.open(peer, liveId, { message: () => settle(true), closed: () => settle(false) })
      link.send({ kind: 'hello', relay: RELAY_VERSION, term, listens: false })
    })

  const others = (worker: string): ReadonlyArray<Peer> => {
    const { workers } = admission.state()
    return members.all().flatMap(({ name, incarnation, address }) => {
      const isWorker = workers.some((one) => one.incarnation === incarnation && !one.isDraining)
      if (!isWorker || name === worker) return []
      if (incarnation === members.self.incarnation) return [{ ...members.self, address: '' }]
      return address === null ? [] : [{ name, incarnation, address }]
    })
  }

  const move = async (liveId: number): Promise<void> => {
    const before = whereabouts.of(liveId)
    await whereabouts.refresh()
    const where = whereabouts.of(liveId)
    // It waits for room, or was moved a moment ago: that is dialled first.
    if (where.kind !== 'member' || before.kind !== 'member' || where.term !== before.term) return
    for (const peer of others(where.peer.name)) {
      if (!await answers(peer, liveId, where.term)) continue
      const command = {
        type: 'Move', liveId, term: where.term, to: peer.name, offering: admission.offering(), at: environment.now(),
      } as const
      const moved = await admission.send({ command, ...ownOrigin(deps) })()
      const about = { liveId, from: where.peer.name, to: peer.name }
      if (E.isRight(moved)) return logger.warn(about, 'the worker of a live cannot be reached from its sender: the live is moved')
      logger.warn({ ...about, refusal: moved.left._tag }, 'a live whose worker cannot be reached could not be moved')
      if (moved.left._tag === 'MovedSince') return
    }
  }

  return (liveId) => {
    if (lately.has(liveId)) return
    lately.add(liveId)
    timers.after(ONCE_IN, () => lately.delete(liveId))
    move(liveId).catch((error: unknown) => logger.error({ liveId, error: String(error) }, 'a live could not be moved'))
  }
}
