/**
 * Recorded script t24: the states and refusals of three nodes. The leader resigns, is frozen, loses its quorum and is
 * killed. To run it on real nodes, pass their URL and the process ids in the order of the URL:
 * `node t24.ts esdb://127.0.0.1:2111,127.0.0.1:2112,127.0.0.1:2113?tls=false 17 18 19`.
 */
import { pathToFileURL } from 'node:url'
import { BACKWARDS, END, EventStoreDBClient, START, streamNameFilter, type NotLeaderError } from '@eventstore/db-client'
import { eventually } from '../../../tools/eventually.ts'
import type { Gossip, RecordedNode } from './recorded-node.ts'
import { event } from './session.ts'

const credentials = { username: 'admin', password: 'changeit' }
const fail = (node: number): never => {
  throw new Error(`there is no node ${node}`)
}

const LEADER = { requiresLeader: true }

export const recordThreeNodes = async (
  nodes: ReadonlyArray<RecordedNode>,
  print: (line: string) => void,
): Promise<void> => {
  const nodeAt = (node: number): RecordedNode => nodes[node] ?? fail(node)
  const portOf = (node: number): number => Number(nodeAt(node).address.split(':')[1])
  /** A node (default: itself) as the node `by` reports it. */
  const memberOf = async (by: number, of = by) => {
    const { members } = JSON.parse((await nodeAt(by).ask('GET', '/gossip')).text) as Gossip
    return members.find(({ httpEndPointPort }) => httpEndPointPort === portOf(of)) ?? fail(of)
  }
  const stateOf = async (by: number, of = by): Promise<string> => {
    const { state, isAlive } = await memberOf(by, of)
    return `${state}, ${isAlive ? 'alive' : 'dead'}`
  }
  const leaderAmong = (some: ReadonlyArray<number>): Promise<number> =>
    eventually(async () => {
      for (const node of some) if ((await memberOf(node).catch(() => null))?.state === 'Leader') return node
      throw new Error('no node leads')
    }, { timeoutMs: 40_000 })
  const until = (check: () => Promise<boolean>, timeoutMs = 40_000): Promise<void> =>
    eventually(async () => {
      if (!(await check())) throw new Error('not yet')
    }, { timeoutMs })

  const connect = (node: number) => EventStoreDBClient.connectionString(`${nodeAt(node).url}&keepAliveInterval=-1`)
  /** Runs a call with a new client, because a client that knows the leader moves to it. */
  const outcome = async (node: number, call: (client: EventStoreDBClient) => Promise<unknown>): Promise<string> => {
    const client = connect(node)
    try {
      await call(client)
      return 'OK'
    } catch (error) {
      const { constructor, message, leader } = error as NotLeaderError
      const names = leader === undefined ? '' : `, which names node ${roles.get(leader.port)}`
      return `${constructor.name} ${message.replace(/after .*|Last error.*/, '')}${names}`
    } finally {
      client.dispose().catch(() => undefined)
    }
  }
  const roles = new Map<number, string>()
  const append = (node: number, options = {}) =>
    outcome(node, (client) => client.appendToStream('a', [event(0)], { credentials, deadline: 20_000, ...options }))
  const readAll = (node: number, options = {}) =>
    outcome(node, async (client) => {
      for await (const _ of client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1, ...options })) return
    })
  const subscribe = (node: number, options = {}) =>
    outcome(
      node,
      (client) =>
        new Promise((resolve, reject) =>
          client.subscribeToAll(options).once('confirmation', resolve).once('error', reject),
        ),
    )
  const calls = async (who: string, node: number): Promise<void> => {
    print(`${who}: append ${await append(node)}; requiring the leader ${await append(node, LEADER)}`)
    print(`${who}: readAll ${await readAll(node)}; requiring the leader ${await readAll(node, LEADER)}`)
    const ends = [
      await subscribe(node, { ...LEADER, fromPosition: END }),
      await subscribe(node, { ...LEADER, fromPosition: START }),
    ]
    print(`${who}: subscription requiring the leader, from the end ${ends[0]}; from the start ${ends[1]}`)
  }
  /** Counts the events of a subscription that stays open. */
  const follow = async (node: number) => {
    const received = { events: 0, hasFailed: false }
    const subscription = connect(node).subscribeToAll({
      fromPosition: END,
      filter: streamNameFilter({ prefixes: ['a'] }),
    })
    subscription
      .on('data', () => (received.events += 1))
      .on('error', () => {
        received.hasFailed = true
      })
    await new Promise((resolve) => subscription.once('caughtUp', resolve))
    return received
  }

  print('== a leader and its followers')
  const first = await leaderAmong([0, 1, 2])
  const others = [0, 1, 2].filter((node) => node !== first)
  const [followerB = 0, followerC = 0] = others
  for (const [node, role] of [[first, 'A'], [followerB, 'B'], [followerC, 'C']] as const) roles.set(portOf(node), role)
  await until(
    async () => (await stateOf(first, followerB)) === 'Follower, alive' &&
      (await stateOf(first, followerC)) === 'Follower, alive',
  )
  print(`of themselves: ${await stateOf(first)}; ${await stateOf(followerB)}; ${await stateOf(followerC)}`)
  await calls('leader', first)
  await calls('follower', followerB)

  print('== the leader resigns')
  const feedOfFirst = await follow(first)
  const epochBefore = (await memberOf(first)).epochNumber
  let second = first
  let answered = 0
  // On a busy machine the resigned leader may be elected again, or its message is lost: it resigns again.
  while (second === first) {
    const { epochNumber } = await memberOf(first)
    answered = (await nodeAt(first).ask('POST', '/admin/node/resign')).status
    const isElected = async (): Promise<boolean> =>
      (await memberOf(await leaderAmong([0, 1, 2]))).epochNumber > epochNumber
    await until(isElected, 10_000).catch(() => undefined)
    second = await leaderAmong([0, 1, 2])
  }
  print(`resign: ${answered}`)
  const third = second === followerB ? followerC : followerB
  for (const [node, role] of [
    [second, 'new leader'],
    [third, 'other follower'],
    [first, 'resigned'],
  ] as const)
    roles.set(portOf(node), role)
  await until(
    async () => (await stateOf(first)) === 'Follower, alive' &&
      (await stateOf(first, second)) === 'Leader, alive',
  )
  print(`a higher epoch: ${(await memberOf(second)).epochNumber > epochBefore}`)
  print(`resigned: append requiring the leader ${await append(first, LEADER)}`)
  // Appends that it forwards before it knows the new leader are lost, so they are repeated.
  await until(async () => (await append(first)) === 'OK')
  print('resigned: append OK')
  await until(() => Promise.resolve(feedOfFirst.events > 0))
  print('its feeds go on')
  await until(
    async () => (await stateOf(third)) === 'Follower, alive' &&
      (await stateOf(third, second)) === 'Leader, alive',
  )

  print('== the leader is frozen')
  const feedOfSecond = await follow(second)
  const epochFrozen = (await memberOf(second)).epochNumber
  await nodeAt(second).freeze()
  // Whether the others consider it alive depends on their gossip.
  print(`at once the others say: ${(await memberOf(third, second)).state}`)
  print(`follower: append ${await append(third)}`)
  const fourth = await leaderAmong([first, third])
  const left = fourth === first ? third : first
  await until(async () => !(await memberOf(fourth, second)).isAlive)
  print(
    `a higher epoch: ${(await memberOf(fourth)).epochNumber > epochFrozen}; ` +
      `of the old one the new leader says: ${await stateOf(fourth, second)}`,
  )
  print(`new leader: append ${await append(fourth)}`)
  await nodeAt(second).thaw()
  const claim = await memberOf(second)
  const acknowledgement =
    (await append(second, { deadline: 3000, ...LEADER })) === 'OK' ? 'acknowledged' : 'not acknowledged'
  print(
    `thawed: it says of itself ${claim.state}; with its old epoch: ${claim.epochNumber === epochFrozen}; ` +
      `its append: ${acknowledgement}`,
  )
  const { ask, hasEnded = () => ask('GET', '/info').then(() => false, () => true) } = nodeAt(second)
  await until(hasEnded)
  await nodeAt(second).kill()
  await until(() => Promise.resolve(feedOfSecond.hasFailed))
  print(`then it ends; its feeds have received ${feedOfSecond.events} events and failed`)

  // A service manager may have started the node again; in this script it stays down.
  await nodeAt(second).kill()

  print('== the quorum is lost')
  for (const [node, role] of [[fourth, 'leader'], [left, 'left']] as const) roles.set(portOf(node), role)
  await until(
    async () => (await stateOf(fourth)) === 'Leader, alive' &&
      (await stateOf(fourth, left)) === 'Follower, alive',
  )
  await nodeAt(left).freeze()
  print(
    `at once: readAll requiring the leader ${await readAll(fourth, LEADER)}; ` +
      `append ${await append(fourth, { deadline: 800 })}`,
  )
  await until(async () => (await memberOf(fourth)).state === 'Unknown')
  print(`later: ${await stateOf(fourth)}; of the other ${await stateOf(fourth, left)}`)
  await calls('without quorum', fourth)
  await nodeAt(left).thaw()
  await until(async () => (await append(fourth, { deadline: 2000 })) === 'OK')
  print('thawed: writes go on')

  print('== the leader is killed')
  const last = await leaderAmong([fourth, left])
  const survivor = last === fourth ? left : fourth
  roles.set(portOf(last), 'killed')
  await until(
    async () => (await stateOf(survivor)) === 'Follower, alive' && (await stateOf(survivor, last)) === 'Leader, alive',
  )
  await nodeAt(last).kill()
  print(`at once: append requiring the leader ${await append(survivor, LEADER)}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [url = '', ...ids] = process.argv.slice(2)
  const nodes = [...url.matchAll(/127\.0\.0\.1:\d+/g)].map(([address], node): RecordedNode => {
    const signal = (name: NodeJS.Signals) => () => {
      try {
        process.kill(Number(ids[node]), name)
      } catch {
        // The process has ended.
      }
    }
    const ask = async (method: string, path: string) => {
      const answer = await fetch(`http://${address}${path}`, { method, signal: AbortSignal.timeout(5000) })
      return { status: answer.status, text: await answer.text() }
    }
    return {
      address,
      url: `esdb://${address}?tls=false`,
      ask,
      freeze: signal('SIGSTOP'),
      thaw: signal('SIGCONT'),
      kill: signal('SIGKILL'),
    }
  })
  await recordThreeNodes(nodes, (line) => console.log(line))
  process.exit(0)
}
