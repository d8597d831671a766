import { setImmediate as turn } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import type { Address } from '../../../infrastructure/eventstoredb/connection.ts'
import { textOf } from '../../../infrastructure/eventstoredb/nodes/addresses.ts'
import { createDiscovery, type Discovery } from '../../../infrastructure/eventstoredb/nodes/discovery.ts'
import { createQueryNode, type Gossip, type QueryNode } from '../../../infrastructure/eventstoredb/nodes/gossip.ts'
import {
  resolveNothing, createGossipCluster, startGossipServers, waitForAll, type EventStoreDbNode,
} from '../../support/worlds/eventstoredb-gossip.ts'
import { immediateTimers } from '../../support/doubles/immediate-timers.ts'

/** A limit above the time of every answer, and a short limit for nodes that never answer. */
const [LONG_MS, SHORT_MS] = [60_000, 50]
const NOBODY = { username: 'none', password: 'none' }

const leaderOf = async (discovery: Discovery): Promise<string | null> => {
  const [first] = await discovery.candidates()
  return first === undefined ? null : textOf(first.address)
}

test('a node is trusted only about itself; other nodes supply only its address', async (t) => {
  const nodes = await startGossipServers(t,
    { state: 'Leader', epoch: 4, isFrozen: true },
    { state: 'Follower', epoch: 5, stateOfOthers: 'Leader' },
    { state: 'Leader', epoch: 5, stateOfOthers: 'Leader' },
  )
  const [frozen, follower, leader] = nodes as [Address, Address, Address]
  const query: QueryNode = (address) =>
    createQueryNode(null, NOBODY, address.port === frozen.port ? SHORT_MS : LONG_MS)(address)
  const discovery = createDiscovery({
    hosts: [frozen, follower],
    discovers: false,
    query,
    resolve: resolveNothing,
    timers: waitForAll,
  })
  t.is(await leaderOf(discovery), null, 'the first search learns only the address of the leader')
  const [first, second] = [textOf(frozen), textOf(follower)]
  t.is(discovery.problem(), `no node says that it leads (${first}: no answer; ${second}: does not lead)`)
  t.deepEqual(await discovery.candidates(), [{ address: leader, epoch: 5 }])
})

const CLUSTERS: ReadonlyArray<readonly [string, ReadonlyArray<EventStoreDbNode>, string | null]> = [
  ['one node', [{ state: 'Leader', epoch: 0 }], 'node0:2113'],
  [
    'three nodes',
    [
      { state: 'Follower', epoch: 1 },
      { state: 'Leader', epoch: 1 },
      { state: 'Follower', epoch: 1 },
    ],
    'node1:2113',
  ],
  [
    'two of three nodes answer',
    [
      { state: 'Follower', epoch: 2 },
      { state: 'Leader', epoch: 1, isFrozen: true },
      { state: 'Leader', epoch: 2 },
    ],
    'node2:2113',
  ],
  ['five nodes', [0, 1, 2, 3, 4].map((n) => ({ state: n === 4 ? 'Leader' : 'Follower', epoch: 9 })), 'node4:2113'],
  [
    'an ex-leader without quorum',
    [{ state: 'Unknown', epoch: 3 }, { state: 'Follower', epoch: 3, isFrozen: true }],
    null,
  ],
  [
    'a leader that resigns',
    [{ state: 'ResigningLeader', epoch: 3 }, { state: 'Follower', epoch: 3 }],
    null,
  ],
  [
    'a thawed leader next to the new leader',
    [
      { state: 'Leader', epoch: 4 },
      { state: 'Leader', epoch: 7 },
      { state: 'Follower', epoch: 7 },
    ],
    'node1:2113',
  ],
  [
    'a read-only replica',
    [
      { state: 'Leader', epoch: 8, isReadOnlyReplica: true },
      { state: 'ReadOnlyReplica', epoch: 9 },
      { state: 'Leader', epoch: 2 },
    ],
    'node2:2113',
  ],
]
for (const [name, nodes, leader] of CLUSTERS)
  test(`discovery finds the leader of the cluster: ${name}`, async (t) => {
    const { query, addressOf } = createGossipCluster(...nodes)
    const discovery = createDiscovery({
      hosts: [addressOf(0)],
      discovers: true,
      query,
      resolve: resolveNothing,
      timers: waitForAll,
    })
    await discovery.candidates()
    t.is(await leaderOf(discovery), leader)
  })

test('the chosen node says that it leads, and no other node leads in a later epoch', async (t) => {
  const node = fc.record({
    state: fc.constantFrom(
      'Leader',
      'Leader',
      'Leader',
      'Leader',
      'Follower',
      'Unknown',
      'PreLeader',
      'ResigningLeader',
    ),
    epoch: fc.nat(9),
    isFrozen: fc.constantFrom(false, false, true),
    isReadOnlyReplica: fc.constantFrom(false, false, false, true),
  })
  await fc.assert(fc.asyncProperty(fc.array(node, { minLength: 1, maxLength: 5 }), fc.nat(4), async (nodes, seed) => {
    const { query, addressOf } = createGossipCluster(...nodes)
    const hosts = [addressOf(seed % nodes.length), addressOf(nodes.length)]
    const discovery = createDiscovery({ hosts, discovers: false, query, resolve: resolveNothing, timers: waitForAll })
    await discovery.candidates()
    const [chosen] = await discovery.candidates()
    const leading = nodes.filter((node) => node.state === 'Leader' && !node.isFrozen && !node.isReadOnlyReplica)
    // The search cannot find the other nodes while the only known node is silent.
    const isCutOff = nodes[seed % nodes.length]?.isFrozen === true
    const expected = isCutOff || leading.length === 0 ? undefined : nodes[Number(chosen?.address.host.slice(4))]
    if (expected === undefined) t.is(chosen, undefined)
    else t.true(leading.includes(expected) && leading.every(({ epoch }) => epoch <= expected.epoch))
  }))
})

test('a search does not wait for a silent node, and the next search uses its late answer', async (t) => {
  const { query, addressOf } = createGossipCluster({ state: 'Leader', epoch: 4 }, { state: 'Leader', epoch: 7 })
  const silence = Promise.withResolvers<void>()
  let requests = 0
  const slow: QueryNode = async (address) => {
    if (textOf(address) === textOf(addressOf(0))) return await query(address)
    requests += 1
    await silence.promise
    return await query(address)
  }
  const discovery = createDiscovery({
    hosts: [addressOf(0), addressOf(1)],
    discovers: false,
    query: slow,
    resolve: resolveNothing,
    timers: immediateTimers,
  })
  const leaders: Array<string | null> = []
  const searching = leaderOf(discovery).then(async (first) => leaders.push(first, await leaderOf(discovery)))
  for (let turns = 0; turns < 20; turns++) await turn()
  t.deepEqual([...leaders], ['node0:2113', 'node0:2113'])
  t.is(requests, 1)
  silence.resolve()
  await searching
  t.is(await leaderOf(discovery), 'node1:2113')
})

test('a single host is used without a request until a node names another leader', async (t) => {
  const { nodes, query, addressOf } = createGossipCluster(
    { state: 'Follower', epoch: 1 }, { state: 'Leader', epoch: 1 },
  )
  const askedNodes: string[] = []
  const discovery = createDiscovery({
    hosts: [addressOf(0)],
    discovers: false,
    resolve: resolveNothing,
    timers: waitForAll,
    query: async (address) => {
      askedNodes.push(textOf(address))
      return await query(address)
    },
  })
  t.deepEqual(await discovery.candidates(), [{ address: addressOf(0), epoch: null }])
  t.deepEqual(askedNodes, [])
  discovery.addNode(addressOf(1))
  t.deepEqual(await discovery.candidates(), [{ address: addressOf(1), epoch: 1 }])
  for (const node of nodes) node.isFrozen = true
  t.deepEqual(
    await discovery.candidates(),
    [{ address: addressOf(0), epoch: null }],
    'the configured host is tried again when no node answers',
  )
})

test('+discover queries all addresses of the name, and keeps the old ones while DNS is unavailable', async (t) => {
  const { nodes, query } = createGossipCluster(
    { state: 'Follower', epoch: 1 },
    { state: 'Leader', epoch: 1 },
    { state: 'Follower', epoch: 1 },
  )
  const askedNodes: string[] = []
  let addresses: () => Promise<ReadonlyArray<string>> = async () => ['10.0', '10.1']
  const discovery = createDiscovery({
    hosts: [{ host: 'cluster.example', port: 7 }],
    discovers: true,
    timers: waitForAll,
    resolve: async (name) => (name === 'cluster.example' ? await addresses() : []),
    // These nodes name no other node, so only DNS leads to them.
    query: async (address) => {
      askedNodes.push(`${textOf(address)} ${address.alias}`)
      const answer = await query({ ...address, host: address.host.replace('10.', 'node') })
      return E.map((gossip: Gossip) => ({ ...gossip, named: [] }))(answer)
    },
  })
  t.is(await leaderOf(discovery), '10.1:7')
  t.deepEqual(askedNodes, ['10.0:7 cluster.example', '10.1:7 cluster.example', 'cluster.example:7 undefined'])
  Object.assign(nodes[1] as EventStoreDbNode, { isFrozen: true })
  Object.assign(nodes[2] as EventStoreDbNode, { state: 'Leader', epoch: 2 })
  addresses = async () => ['10.0', '10.2']
  t.is(await leaderOf(discovery), '10.2:7')
  addresses = resolveNothing
  t.is(await leaderOf(discovery), '10.2:7')
})
