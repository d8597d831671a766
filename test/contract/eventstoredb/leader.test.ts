import { setImmediate as turn } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { NotLeaderError, type EventStoreDBClient } from '@eventstore/db-client'
import { followLeader } from '../../../infrastructure/eventstoredb/leader.ts'
import type { Probe } from '../../../infrastructure/eventstoredb/nodes/channel.ts'
import { createDiscovery } from '../../../infrastructure/eventstoredb/nodes/discovery.ts'
import { eventually } from '../../support/tools/eventually.ts'
import {
  resolveNothing, createGossipCluster, waitForAll, type EventStoreDbNode,
} from '../../support/worlds/eventstoredb-gossip.ts'
import { immediateTimers } from '../../support/doubles/immediate-timers.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'

/** A limit above the time of every answer. */
const LONG_MS = 60_000

/** Follows the leader of a cluster with scripted channels: `probeOf` returns the current answer of a node. */
const startLeader = (
  t: ExecutionContext,
  cluster: ReturnType<typeof createGossipCluster>,
  probeOf: (host: string) => Probe = () => ({ kind: 'leads' }),
) => {
  const logger = createRecordingLogger()
  const opened: Array<{ readonly host: string; readonly client: EventStoreDBClient; isRetired: boolean }> = []
  const hosts = cluster.nodes.map((_, index) => cluster.addressOf(index))
  const discovery = createDiscovery({
    hosts,
    discovers: false,
    query: cluster.query,
    resolve: resolveNothing,
    timers: waitForAll,
  })
  const leader = followLeader({
    discovery,
    timers: immediateTimers,
    limit: LONG_MS,
    logger,
    open: ({ host }) => {
      const channel = { host, client: { host } as unknown as EventStoreDBClient, isRetired: false }
      opened.push(channel)
      return {
        client: channel.client,
        probe: async () => {
          await turn()
          return probeOf(host)
        },
        retire: () => void (channel.isRetired = true),
      }
    },
  })
  t.teardown(leader.close)
  const hostNow = (): string | null => {
    try {
      return (leader.client() as unknown as { readonly host: string }).host
    } catch {
      return null
    }
  }
  const untilLeaderIs = (host: string | null): Promise<void> => until(() => hostNow() === host)
  return { leader, logger, opened, discovery, untilLeaderIs, hostNow }
}

const until = (condition: () => boolean): Promise<void> =>
  eventually(() => {
    if (!condition()) throw new Error(`not yet: ${String(condition)}`)
  })

const LEADS: Probe = { kind: 'leads' }
const SILENT: Probe = { kind: 'silent', reason: 'no answer' }
const REFUSES: Probe = { kind: 'refuses', reason: 'not ready', leader: null }

test('a refusing leader is lost immediately: its calls end, and a search finds the next leader', async (t) => {
  const cluster = createGossipCluster({ state: 'Leader', epoch: 1 }, { state: 'Follower', epoch: 1 })
  const { leader, logger, opened, untilLeaderIs } = startLeader(t, cluster, (host) =>
    host === 'node0' && cluster.nodes[0]?.state !== 'Leader' ? REFUSES : LEADS,
  )
  await leader.untilKnown(new AbortController().signal)
  await untilLeaderIs('node0')
  const lost = leader.lost()
  Object.assign(cluster.nodes[0] as EventStoreDbNode, { state: 'Unknown' })
  await untilLeaderIs(null)
  t.true(lost.aborted)
  t.throws(() => leader.client(), { message: /^no leader of the event store was found: / })
  const leaderKnown = leader.untilKnown(new AbortController().signal)
  Object.assign(cluster.nodes[1] as EventStoreDbNode, { state: 'Leader', epoch: 2 })
  await leaderKnown
  await untilLeaderIs('node1')
  t.false(leader.lost().aborted)
  t.is(leader.changes(), 1)
  t.deepEqual(
    logger.lines.map(({ level, fields }) => [level, fields['node'], fields['epoch']]),
    [
      ['info', 'node0:2113', 1],
      ['warn', 'node0:2113', 1],
      ['info', 'node1:2113', 2],
    ],
  )
  t.deepEqual(
    opened.filter(({ isRetired }) => !isRetired).map(({ host }) => host),
    ['node1'],
    'the connection to the lost leader is closed',
  )
})

test('a candidate that does not answer as the leader is skipped', async (t) => {
  const cluster = createGossipCluster({ state: 'Leader', epoch: 7 }, { state: 'Leader', epoch: 4 })
  const { untilLeaderIs, opened } = startLeader(t, cluster, (host) => (host === 'node0' ? REFUSES : LEADS))
  await untilLeaderIs('node1')
  t.deepEqual(opened.map(({ host, isRetired }) => [host, isRetired]), [['node0', true], ['node1', false]])
})

test('a leader is kept after a short silence and lost after a longer one, even without another leader', async (t) => {
  const cluster = createGossipCluster({ state: 'Leader', epoch: 1 }, { state: 'Follower', epoch: 1 })
  let [silences, silencesLeft] = [0, 0]
  let hasAnswered = false
  const { leader, untilLeaderIs } = startLeader(t, cluster, () => {
    hasAnswered = silencesLeft === 0
    if (hasAnswered) return LEADS
    silencesLeft -= 1
    silences += 1
    return SILENT
  })
  await untilLeaderIs('node0')
  const lost = leader.lost()
  Object.assign(cluster.nodes[0] as EventStoreDbNode, { isFrozen: true })
  silencesLeft = 3
  await until(() => silences === 3 && hasAnswered)
  t.false(lost.aborted, 'three silent probes are no loss')
  silencesLeft = 4
  await untilLeaderIs(null)
  t.true(lost.aborted)
  t.is(silences, 7)
})

test('a leader that is silent once keeps its channel, even when it answers on a new one', async (t) => {
  const cluster = createGossipCluster({ state: 'Leader', epoch: 1 })
  let [probes, silentAt] = [0, -1]
  const { leader, untilLeaderIs, opened } = startLeader(t, cluster, () => {
    probes += 1
    return probes === silentAt ? SILENT : LEADS
  })
  await untilLeaderIs('node0')
  const lost = leader.lost()
  silentAt = probes + 1
  await until(() => opened.length > 1 && probes > silentAt + 4)
  t.false(lost.aborted)
  t.deepEqual(opened.map(({ isRetired }) => isRetired), [false, ...opened.slice(1).map(() => true)])
})

test('while the leader is silent, another node that answers as the leader replaces it', async (t) => {
  const cluster = createGossipCluster({ state: 'Leader', epoch: 1 }, { state: 'Follower', epoch: 1 })
  const { leader, untilLeaderIs, logger } = startLeader(t, cluster, (host) =>
    host === 'node0' && cluster.nodes[0]?.isFrozen === true ? SILENT : LEADS,
  )
  await untilLeaderIs('node0')
  const lost = leader.lost()
  Object.assign(cluster.nodes[1] as EventStoreDbNode, { state: 'Leader', epoch: 2 })
  Object.assign(cluster.nodes[0] as EventStoreDbNode, { isFrozen: true })
  await untilLeaderIs('node1')
  t.true(lost.aborted)
  t.deepEqual(logger.lines.map(({ level }) => level), ['info', 'info'])
})

test('a leader with unanswered calls is replaced only by a leader of a later epoch', async (t) => {
  // Like a leader that was deposed while it was frozen: it still answers probes for a moment.
  const cluster = createGossipCluster(
    { state: 'Leader', epoch: 4 },
    { state: 'Leader', epoch: 3 },
    { state: 'Follower', epoch: 4 },
  )
  const { leader, untilLeaderIs, opened } = startLeader(t, cluster)
  await untilLeaderIs('node0')
  const reportFailure = (): void => leader.failed(leader.client(), new Error('no answer'))
  for (let times = 0; times < 20; times++) {
    reportFailure()
    await turn()
  }
  await untilLeaderIs('node0')
  t.is(opened.length, 1)
  Object.assign(cluster.nodes[2] as EventStoreDbNode, { state: 'Leader', epoch: 7 })
  await turn()
  await untilLeaderIs('node0')
  reportFailure()
  await untilLeaderIs('node2')
})

const notLeader = (address: string): NotLeaderError =>
  new NotLeaderError({
    metadata: { getMap: () => ({ 'leader-endpoint-host': address, 'leader-endpoint-port': '2113' }) },
  } as never)

test('if a call names another leader, the current one is lost immediately and the named node is tried', async (t) => {
  const cluster = createGossipCluster({ state: 'Leader', epoch: 1 }, { state: 'Follower', epoch: 1 })
  const firstNodeOnly = { ...cluster, nodes: cluster.nodes.slice(0, 1) }
  const { leader, untilLeaderIs, hostNow, opened } = startLeader(t, firstNodeOnly)
  await untilLeaderIs('node0')
  t.is(opened.length, 1)
  const client = leader.client()
  Object.assign(cluster.nodes[0] as EventStoreDbNode, { state: 'Follower', epoch: 2 })
  Object.assign(cluster.nodes[1] as EventStoreDbNode, { state: 'Leader', epoch: 2 })
  leader.failed(client, notLeader('node1'))
  t.is(hostNow(), null)
  await untilLeaderIs('node1')
  leader.failed(client, notLeader('node0'))
  t.is(hostNow(), 'node1', 'a late failure on an earlier channel changes nothing')
})

test('a failure during a search is logged and does not end the search', async (t) => {
  const logger = createRecordingLogger()
  let searches = 0
  const leader = followLeader({
    timers: immediateTimers, limit: LONG_MS, logger,
    discovery: {
      addNode: () => undefined,
      problem: () => 'nobody leads',
      candidates: async () => {
        searches += 1
        if (searches === 1) throw new Error('a defect')
        return [{ address: { host: 'a', port: 1 }, epoch: 1 }]
      },
    },
    open: () => {
      if (searches === 2) throw new Error('another defect')
      return { client: {} as EventStoreDBClient, probe: async () => LEADS, retire: () => undefined }
    },
  })
  t.teardown(leader.close)
  await leader.untilKnown(new AbortController().signal)
  t.deepEqual(logger.lines.map(({ fields }) => fields['reason']), ['a defect', 'another defect', undefined])
})

test('waiting for a leader stops on the signal and on close', async (t) => {
  const { leader } = startLeader(
    t,
    createGossipCluster({ state: 'Follower', epoch: 1 }, { state: 'Follower', epoch: 1 }),
  )
  const stop = new AbortController()
  const waiting = leader.untilKnown(stop.signal)
  stop.abort()
  await waiting
  const closing = leader.untilKnown(new AbortController().signal)
  leader.close()
  await closing
  t.throws(() => leader.client(), { message: /was closed/ })
})
