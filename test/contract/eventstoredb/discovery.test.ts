import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { promisify } from 'node:util'
import test from 'ava'
import fc from 'fast-check'
import type { Address } from '../../../infrastructure/eventstoredb/connection.ts'
import { textOf } from '../../../infrastructure/eventstoredb/nodes/addresses.ts'
import { createDiscovery, type Discovery } from '../../../infrastructure/eventstoredb/nodes/discovery.ts'
import { createAskNode, type AskNode, type Certificates } from '../../../infrastructure/eventstoredb/nodes/gossip.ts'
import {
  addressFrom, gossipAnswer, resolveNothing, createGossipCluster, startGossipServers, waitForAll, type EventStoreDbNode,
} from '../../support/worlds/eventstoredb-gossip.ts'
import { immediateTimers } from '../../support/doubles/immediate-timers.ts'
import { listen } from '../../support/tools/listen.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const OPENSSL = '/usr/bin/openssl'
const run = promisify(execFile)
/** Longer than any answer takes; short where none will come. */
const [LONG_MS, SHORT_MS] = [60_000, 50]

const leaderOf = async (discovery: Discovery): Promise<string | null> => {
  const [first] = await discovery.candidates()
  return first === undefined ? null : textOf(first.address)
}

test('a node is believed about itself alone: what the others say of it gives its address', async (t) => {
  const nodes = await startGossipServers(t,
    { state: 'Leader', epoch: 4, isFrozen: true },
    { state: 'Follower', epoch: 5, hearsay: 'Leader' },
    { state: 'Leader', epoch: 5, hearsay: 'Leader' },
  )
  const [frozen, follower, leader] = nodes as [Address, Address, Address]
  const ask: AskNode = (address) => createAskNode(null, address.port === frozen.port ? SHORT_MS : LONG_MS)(address)
  const discovery = createDiscovery({
    hosts: [frozen, follower],
    discovers: false,
    ask,
    resolve: resolveNothing,
    timers: waitForAll,
  })
  t.is(await leaderOf(discovery), null, 'the leader is not known yet, only named')
  t.deepEqual(await discovery.candidates(), [{ address: leader, epoch: 5 }])
})

test('an answer that cannot be read, breaks off, is endless or never comes is none', async (t) => {
  for (const body of ['{}', 'no JSON', '{"members":3}', `{"members":[],"more":"${'x'.repeat(2 * 1024 * 1024)}"}`]) {
    const server = createServer((_, response) => response.end(body))
    t.is(await createAskNode(null, LONG_MS)(addressFrom(await listen(t, server))), null, body.slice(0, 20))
  }
  const broken = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"members":')
    response.destroy()
  })
  t.is(await createAskNode(null, LONG_MS)(addressFrom(await listen(t, broken))), null)
  // As a frozen process: the kernel takes the connection, nobody reads it.
  const frozen = createTcpServer()
  await new Promise<void>((resolve) => frozen.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void frozen.close())
  t.is(await createAskNode(null, SHORT_MS)({ host: '127.0.0.1', port: (frozen.address() as AddressInfo).port }), null)
  t.is(await createAskNode(null, LONG_MS)({ host: '127.0.0.1', port: 1 }), null)
})

testWith(OPENSSL)('the certificates of the connection hold for the question too, and a node found by its number may show the name', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const certify = async (name: string, subject: string): Promise<{ readonly key: Buffer; readonly cert: Buffer }> => {
    const [key, cert] = [join(path, `${name}.key`), join(path, `${name}.crt`)]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
    await run(OPENSSL, [
      'req',
      '-x509',
      ...curve,
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${subject}`,
      '-keyout',
      key,
      '-out',
      cert,
    ])
    return { key: await readFile(key), cert: await readFile(cert) }
  }
  const [numbered, named, client] = await Promise.all([
    certify('numbered', 'IP:127.0.0.1'),
    certify('named', 'DNS:cluster.example'),
    certify('client', 'DNS:client'),
  ])
  const serve = async (server: { readonly key: Buffer; readonly cert: Buffer }): Promise<Address> => {
    const nodes: ReadonlyArray<EventStoreDbNode> = [{ state: 'Leader', epoch: 1 }]
    const listening = createSecureServer(
      { ...server, ca: client.cert, requestCert: true, rejectUnauthorized: true },
      (_, response) => response.end(gossipAnswer(nodes, 0, () => ({ host: 'node0', port: 1 }))),
    )
    return addressFrom(await listen(t, listening))
  }
  const [first, second] = [await serve(numbered), await serve(named)]
  const own = { cert: client.cert, key: client.key }
  const says = async (certificates: Certificates, address: Address) =>
    (await createAskNode(certificates, LONG_MS)(address))?.leadsIn ?? null
  t.is(await says({ ...own, ca: numbered.cert }, first), 1)
  t.is(await says({ ...own, ca: named.cert }, first), null, 'signed by somebody else')
  t.is(await says({ ca: numbered.cert }, first), null, 'without the certificate that the server asks for')
  t.is(await says(null, first), null, 'without TLS')
  t.is(await says({ ...own, ca: named.cert }, second), null, 'a certificate for another name')
  t.is(await says({ ...own, ca: named.cert }, { ...second, alias: 'cluster.example' }), 1)
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
    'two of three',
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
    [
      { state: 'Unknown', epoch: 3 },
      { state: 'Follower', epoch: 3, isFrozen: true },
    ],
    null,
  ],
  [
    'a leader that resigns',
    [
      { state: 'ResigningLeader', epoch: 3 },
      { state: 'Follower', epoch: 3 },
    ],
    null,
  ],
  [
    'a thawed leader beside the new one',
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
  test(`the leader of ${name}`, async (t) => {
    const { ask, addressOf } = createGossipCluster(...nodes)
    const discovery = createDiscovery({
      hosts: [addressOf(0)],
      discovers: true,
      ask,
      resolve: resolveNothing,
      timers: waitForAll,
    })
    await discovery.candidates()
    t.is(await leaderOf(discovery), leader)
  })

test('whoever is chosen says itself that it leads, and none that answers says so in a later epoch', async (t) => {
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
    const { ask, addressOf } = createGossipCluster(...nodes)
    const hosts = [addressOf(seed % nodes.length), addressOf(nodes.length)]
    const discovery = createDiscovery({ hosts, discovers: false, ask, resolve: resolveNothing, timers: waitForAll })
    await discovery.candidates()
    const [chosen] = await discovery.candidates()
    const leading = nodes.filter((one) => one.state === 'Leader' && !one.isFrozen && !one.isReadOnlyReplica)
    // Nothing leads to the others while the only node that is known says nothing.
    const isCutOff = nodes[seed % nodes.length]?.isFrozen === true
    const named = isCutOff || leading.length === 0 ? undefined : nodes[Number(chosen?.address.host.slice(4))]
    if (named === undefined) t.is(chosen, undefined)
    else t.true(leading.includes(named) && leading.every(({ epoch }) => epoch <= named.epoch))
  }))
})

test('a search does not wait for a silent node; what that one says later counts in the next search, and it is not asked twice', async (t) => {
  const { ask, addressOf } = createGossipCluster({ state: 'Leader', epoch: 4 }, { state: 'Leader', epoch: 7 })
  const silence = Promise.withResolvers<void>()
  let asked = 0
  const slow: AskNode = async (address) => {
    if (textOf(address) === textOf(addressOf(0))) return await ask(address)
    asked += 1
    await silence.promise
    return await ask(address)
  }
  const discovery = createDiscovery({
    hosts: [addressOf(0), addressOf(1)],
    discovers: false,
    ask: slow,
    resolve: resolveNothing,
    timers: immediateTimers,
  })
  const said: Array<string | null> = []
  const searching = leaderOf(discovery).then(async (first) => said.push(first, await leaderOf(discovery)))
  for (let turns = 0; turns < 20; turns++) await turn()
  t.deepEqual([...said], ['node0:2113', 'node0:2113'])
  t.is(asked, 1)
  silence.resolve()
  await searching
  t.is(await leaderOf(discovery), 'node1:2113')
})

test('one host is taken as it is given, unasked, until a node names another leader; then it is one of a cluster', async (t) => {
  const { nodes, ask, addressOf } = createGossipCluster({ state: 'Follower', epoch: 1 }, { state: 'Leader', epoch: 1 })
  const asked: string[] = []
  const discovery = createDiscovery({
    hosts: [addressOf(0)],
    discovers: false,
    resolve: resolveNothing,
    timers: waitForAll,
    ask: async (address) => {
      asked.push(textOf(address))
      return await ask(address)
    },
  })
  t.deepEqual(await discovery.candidates(), [{ address: addressOf(0), epoch: null }])
  t.deepEqual(asked, [])
  discovery.addNode(addressOf(1))
  t.deepEqual(await discovery.candidates(), [{ address: addressOf(1), epoch: 1 }])
  for (const node of nodes) node.isFrozen = true
  t.deepEqual(
    await discovery.candidates(),
    [{ address: addressOf(0), epoch: null }],
    'where nobody answers at all the given one is tried again',
  )
})

test('with +discover all numbers of the name are asked, anew with every search, and those of before while the name service is away', async (t) => {
  const { nodes, ask } = createGossipCluster(
    { state: 'Follower', epoch: 1 },
    { state: 'Leader', epoch: 1 },
    { state: 'Follower', epoch: 1 },
  )
  const asked: string[] = []
  let names: () => Promise<ReadonlyArray<string>> = async () => ['10.0', '10.1']
  const discovery = createDiscovery({
    hosts: [{ host: 'cluster.example', port: 7 }],
    discovers: true,
    timers: waitForAll,
    resolve: async (name) => (name === 'cluster.example' ? await names() : []),
    // Nodes that name nobody, so that only the name leads to them.
    ask: async (address) => {
      asked.push(`${textOf(address)} ${address.alias}`)
      const answer = await ask({ ...address, host: address.host.replace('10.', 'node') })
      return answer === null ? null : { ...answer, named: [] }
    },
  })
  t.is(await leaderOf(discovery), '10.1:7')
  t.deepEqual(asked, ['10.0:7 cluster.example', '10.1:7 cluster.example', 'cluster.example:7 undefined'])
  Object.assign(nodes[1] as EventStoreDbNode, { isFrozen: true })
  Object.assign(nodes[2] as EventStoreDbNode, { state: 'Leader', epoch: 2 })
  names = async () => ['10.0', '10.2']
  t.is(await leaderOf(discovery), '10.2:7')
  names = resolveNothing
  t.is(await leaderOf(discovery), '10.2:7')
})
