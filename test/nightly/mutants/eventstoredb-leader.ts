import type { Mutant } from './mutant.ts'

const EVENTSTOREDB_CALLS = 'test/contract/eventstoredb/calls.test.ts'
const EVENTSTOREDB_CONNECTION = 'test/contract/eventstoredb/connection.test.ts'
const EVENTSTOREDB_DISCOVERY = 'test/contract/eventstoredb/discovery.test.ts'
const EVENTSTOREDB_NODE_ANSWERS = 'test/contract/eventstoredb/node-answers.test.ts'
const EVENTSTOREDB_LEADER = 'test/contract/eventstoredb/leader.test.ts'

/** How the service finds and follows the leader of EventStoreDB. */
export const eventStoreDbLeaderMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/eventstoredb/calls.ts',
    before: 'call(client, { credentials, requiresLeader: true,',
    after: 'call(client, { credentials,',
    rows: ['an append goes only to the leader, with account, expected revision and a server-side deadline'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/connection.ts',
    before: "discovers: discover !== ''",
    after: 'discovers: false',
    rows: ['a connection string contains the nodes, the account and the options of all connections'],
    test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: 'httpEndPointIp === serverIp && httpEndPointPort === serverPort',
    after: 'httpEndPointIp !== null && serverIp !== serverPort',
    rows: ['a node is trusted only about itself; other nodes supply only its address'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: "own?.state === 'Leader' && own.isReadOnlyReplica !== true",
    after: "own?.state === 'Leader'",
    rows: ['a read-only replica'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: 'if (bytes > MAX_BYTES) throw',
    after: 'if (bytes < 0) throw',
    rows: ['an answer that is unreadable, broken, endless, refused or missing has a cause for the operator'],
    test: EVENTSTOREDB_NODE_ANSWERS,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: '...target, ...certificates, auth:',
    after: '...target, auth:',
    rows: ['only a node with a trusted certificate for its address or host name gets the account'],
    test: EVENTSTOREDB_NODE_ANSWERS,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: 'errors.every((error) => error !== undefined)',
    after: 'errors[0] !== undefined',
    rows: ['only a node with a trusted certificate for its address or host name gets the account'],
    test: EVENTSTOREDB_NODE_ANSWERS,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'b.epoch - a.epoch',
    after: 'a.epoch - b.epoch',
    rows: ['the chosen node says that it leads, and no other node leads in a later epoch'],
    test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'if (isSingle && named.length === 0) return configured',
    after: 'if (isSingle) return configured',
    rows: ['a single host is used without a request until a node names another leader'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'return isSingle ? configured : []',
    after: 'return []',
    rows: ['a single host is used without a request until a node names another leader'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'return [...resolved, first]',
    after: 'return resolved',
    rows: ['discovery finds the leader of the cluster: one node'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'const numbers = await resolve(first.host)',
    after: 'const numbers = resolved.length > 0 ? resolved.map(({ host }) => host) : await resolve(first.host)',
    rows: ['+discover queries all addresses of the name, and keeps the old ones while DNS is unavailable'],
    test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'await atMost(timers, WAIT_MS, Promise.all(searched.map(queryOnce)))',
    after: 'await Promise.all(searched.map(queryOnce))',
    rows: ['a search does not wait for a silent node, and the next search uses its late answer'],
    test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: '    former.lost.abort()\n',
    after: '',
    rows: ['a refusing leader is lost immediately: its calls end, and a search finds the next leader'],
    test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'silent === 0 ? null : search(null, mayReplace)',
    after: 'null',
    rows: ['while the leader is silent, another node that answers as the leader replaces it'],
    test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: "|| (await probing).kind !== 'leads'",
    after: '|| true',
    rows: ['a leader that is silent once keeps its channel, even when it answers on a new one'],
    test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'silent === MAX_SILENT_PROBES',
    after: 'silent === 1',
    rows: ['a leader is kept after a short silence and lost after a longer one, even without another leader'],
    test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: '      if (isProbedOften) await search(present)\n',
    after: '',
    rows: ['a leader with unanswered calls is replaced only by a leader of a later epoch'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'present !== null && !isLater(candidate, present)',
    after: 'present === undefined',
    rows: ['a leader with unanswered calls is replaced only by a leader of a later epoch'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'if (leadership?.channel.client !== client) return',
    after: 'if (leadership === null) return',
    rows: ['if a call names another leader, the current one is lost immediately and the named node is tried'],
    test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'probe.leader !== null) discovery.addNode(probe.leader)',
    after: 'probe.leader !== null) discovery.candidates()',
    rows: ['if a call names another leader, the current one is lost immediately and the named node is tried'],
    test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: '      channel.retire()\n      searchResult',
    after: '      searchResult',
    rows: ['a candidate that does not answer as the leader is skipped'], test: EVENTSTOREDB_LEADER,
  },
]
