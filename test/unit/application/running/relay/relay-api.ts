import * as E from 'fp-ts/lib/Either.js'
import type { TranscriptFrame } from '../../../../../domain/transcript/frame.ts'
import type { ResumePoint } from '../../../../../application/lives/queries/resume-point.ts'
import { createLiveBus } from '../../../../../application/pipeline/live-bus.ts'
import { createRecentFinals } from '../../../../../application/running/recent-finals.ts'
import { withLocalWorker } from '../../../../../application/running/relay/local-links.ts'
import { createRemoteLives } from '../../../../../application/running/relay/remote-lives.ts'
import { routedSessions } from '../../../../../application/running/relay/routed-lives.ts'
import { createPlacements } from '../../../../../application/running/relay/placements.ts'
import type { Connection } from '../../../../../interfaces/ws/connection.ts'
import { catchUp } from '../../../../../interfaces/ws/listeners/catch-up.ts'
import { createHub } from '../../../../../interfaces/ws/listeners/caption-hub.ts'
import { LIVE, type RelayLog } from './relay-log.ts'
import type { RelayWorker } from './relay-worker.ts'

/**
 * Creates a process with sockets. `own` is its worker when it also runs sessions. `unreachable` is called for a session
 * whose worker does not answer.
 */
export const createRelayApi = (
  world: RelayLog,
  name: string,
  own: RelayWorker | null = null,
  unreachable: (liveId: number) => void = () => undefined,
) => {
  const { timers, logger, network, produced, members, environment, storedFinals } = world
  const self = own?.self ?? { name, incarnation: `run of ${name}` }
  const view = world.viewOf()
  const placements = createPlacements({ admission: view, members: { self, all: () => members } })
  const networkLinks = network.linksOf(name)
  const links =
    own === null ? networkLinks : withLocalWorker(networkLinks, { incarnation: self.incarnation, handler: own.served })
  const recent = createRecentFinals(timers)
  const bus = createLiveBus({ logger })
  const remote = createRemoteLives({
    links, placements, environment, timers, logger, storedFinals, recent, bus, unreachable,
  })
  const sessions = routedSessions({
    remote, storedFinals,
    resolveToken: () => Promise.reject(new Error('no tokens here')),
  })
  const hub = createHub({ bus: remote.bus, strict: false })

  /** Connects a listener in the same steps as a socket. */
  const listen = (point: ResumePoint | null) => {
    const received: Array<TranscriptFrame> = []
    const endings: Array<string> = []
    let [hasJoined, isClosed, owedFrom] = [false, false, 0]
    const connection: Connection = {
      send: () => undefined,
      broadcast: ({ text }, taken) => {
        const { type: kind, ...line } = JSON.parse(text) as Omit<TranscriptFrame, 'kind'> & {
          readonly type: TranscriptFrame['kind']
        }
        if (line.final) received.push({ kind, ...line })
        taken?.()
      },
      end: ({ reason, close }) => void endings.push(reason === '' ? String(close) : reason),
      drop: () => undefined,
      pause: () => undefined,
      resume: () => undefined,
      isPaused: () => false,
      buffered: () => 0,
    }
    const member: Parameters<typeof hub.join>[1] = { role: 'listener', connection }
    const join = (ahead: ReadonlySet<string>): void => {
      if (isClosed) return
      if (ahead.size > 0) member.sentAhead = new Set(ahead)
      hasJoined = true
      // The past text is unknown while both the worker and the log are unavailable.
      owedFrom = remote.isUnknown(LIVE) ? Infinity : produced.length
      if (hub.join(LIVE, member) !== undefined) endings.push('1000')
    }
    const joining = (async () => {
      await sessions.ready?.(LIVE)
      if (point === null) return join(new Set())
      const missed = await sessions.missed(LIVE, point)
      if (E.isLeft(missed)) return void endings.push('unavailable')
      await catchUp({ missed: missed.right, connection, encode: hub.encode, join, isClosed: () => isClosed, logger })
    })()
    return {
      api: name, point, received, endings, joining,
      hasJoined: () => hasJoined,
      isClosed: () => isClosed,
      /** Index of the first final in `produced` that this listener must receive. */
      owedFrom: () => (point === null ? owedFrom : 0),
      leave: () => {
        isClosed = true
        hub.leave(LIVE, member)
      },
    }
  }

  return {
    name, remote, links, placements, listen,
    /** Does the work of `follow-ends.ts` after a move in the log. */
    observeMoves: (): void => {
      view.look()
      remote.placementChanged()
    },
  }
}
