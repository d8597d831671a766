import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { followRemoteLives } from '../../../../../application/running/relay/follow-remote-lives.ts'
import { endAnywhere, relayingEnds, runsAnywhere } from '../../../../../application/running/relay/routed-lives.ts'
import type { EventStore } from '../../../../../application/ports/event-store.ts'
import type { EndMessage, RelayedData } from '../../../../../application/ports/live-links.ts'
import { NO_RUNS } from '../../../../support/worlds/write-side.ts'
import { createMemoryEventStore } from '../../../../support/doubles/memory/event-store.ts'
import { right } from '../../../../support/tools/right.ts'
import { createRandom } from '../../../../support/tools/seeded.ts'
import { createTestEnvironment } from '../../../../support/doubles/environment.ts'
import { silentLogger } from '../../../../support/doubles/loggers.ts'
import { createRelayLog, LIVE } from './relay-log.ts'
import { startRelay } from './started-relay.ts'

const FINISHED = { status: 'finished', reason: 'finish_route' } as const
const ORIGIN = { commandId: 'c', correlationId: 'c', actor: 'user:1' }

test('an end is requested from the worker that runs the session; null when no worker answers', async (t) => {
  const { world, a, api } = await startRelay()
  const requests: Array<EndMessage> = []
  let answer: E.Either<{ readonly _tag: 'Unreachable'; readonly reason: string }, RelayedData | null> = E.right({
    position: 'p7',
  })
  const end = endAnywhere({
    placements: api.placements, logger: silentLogger,
    links: { end: async (to, message) => {
      t.is(to.name, 'a')
      requests.push(message)
      return answer
    } },
  })
  const request = { cause: FINISHED, origin: ORIGIN, limitMs: 2000 }
  t.deepEqual(await end(LIVE, request), { position: 'p7' as never })
  t.deepEqual(requests, [{ liveId: LIVE, end: request }])
  for (const reply of [
    E.right(null),
    E.left({ _tag: 'Unreachable', reason: 'no answer' } as const),
    E.right({ position: 7 }),
  ]) {
    answer = reply
    t.is(await end(LIVE, request), null)
  }
  world.release()
  api.observeMoves()
  t.is(await end(LIVE, request), null)
  t.is(requests.length, 4, 'a session without a worker sends no request')
  t.is(await a.served.end({ liveId: LIVE, end: request }), null)
})

test('the state of a session on another worker is answered from local knowledge', async (t) => {
  const { world, a, api } = await startRelay()
  const fromSockets = runsAnywhere({
    runs: null,
    remote: api.remote,
    placements: api.placements,
    self: { name: 'p', incarnation: 'run of p' },
  })
  t.deepEqual(
    [fromSockets.hasSender(LIVE), fromSockets.audioSeconds(LIVE), fromSockets.isElsewhere(LIVE)],
    [false, null, true],
  )
  const fromWorker = runsAnywhere({
    runs: { ...NO_RUNS, audioSeconds: () => 3 },
    remote: api.remote,
    placements: api.placements,
    self: a.self,
  })
  t.deepEqual([fromWorker.audioSeconds(LIVE), fromWorker.isElsewhere(LIVE)], [3, false])
  world.release()
  api.observeMoves()
  t.false(fromSockets.isElsewhere(LIVE))
})

test('a process that runs no sessions receives all ends and moves from the log', async (t) => {
  const environment = createTestEnvironment()
  const store: EventStore = createMemoryEventStore()
  const stopping = new AbortController()
  const changes: Array<string> = []
  const bothArrived = Promise.withResolvers<void>()
  const record = (change: string): void => {
    changes.push(change)
    if (changes.length === 2) bothArrived.resolve()
  }
  const world = createRelayLog(createRandom('relay'))
  const stopped = followRemoteLives({
    store,
    logger: silentLogger,
    environment,
    timers: world.timers,
    signal: stopping.signal,
    from: right(await store.head()),
    remote: {
      ended: (liveId, cause) => record(`end of ${liveId}: ${cause.status}`),
      placementChanged: (liveIds) => record(`moved ${[...(liveIds ?? [])].join()}`),
    },
    placements: { refresh: async () => undefined },
    whenProjected: async () => undefined,
  })
  const at = '2026-01-01T00:00:00.000000+00:00'
  const metadata = { correlationId: 'c', causationId: 'c', actor: 'service', recordedAt: at }
  const append = async (stream: string, type: string, data: object): Promise<void> => {
    right(await store.append(stream, 'any', [{ id: environment.newId(), type, data: { ...data, at }, metadata }]))
  }
  await append('admission', 'Moved', { liveId: 7, worker: 'b', term: 2 })
  await append('live-7', 'LiveFinished', { liveId: 7, userId: 1, reason: 'finish_route' })
  await append('admission', 'Released', { liveId: 7 })
  await bothArrived.promise
  t.deepEqual(changes.toSorted(), ['end of 7: finished', 'moved 7'])
  stopping.abort()
  await stopped
})

test('in a process with a worker, an end in the log reaches its sessions and sockets', (t) => {
  const notified: Array<string> = []
  const runs = relayingEnds(
    { ...NO_RUNS, ended: () => void notified.push('runs') },
    { ended: () => void notified.push('sockets') },
  )
  runs.ended(LIVE, FINISHED)
  t.deepEqual(notified, ['runs', 'sockets'])
})
