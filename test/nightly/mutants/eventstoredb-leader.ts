import type { Mutant } from './mutant.ts'

const EVENTSTOREDB_CALLS = 'test/contract/eventstoredb/calls.test.ts'
const EVENTSTOREDB_CONNECTION = 'test/contract/eventstoredb/connection.test.ts'
const EVENTSTOREDB_DISCOVERY = 'test/contract/eventstoredb/discovery.test.ts'
const EVENTSTOREDB_LEADER = 'test/contract/eventstoredb/leader.test.ts'

/** How the service finds and follows the leader of EventStoreDB. */
export const eventStoreDbLeaderMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/eventstoredb/calls.ts',
    before: 'call(client, { credentials, requiresLeader: true,',
    after: 'call(client, { credentials,',
    rows: ['every append is sent with the account, to the leader alone'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/connection.ts',
    before: "discovers: discover !== ''",
    after: 'discovers: false',
    rows: ['a connection string gives the nodes, the account'], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: 'httpEndPointIp === serverIp && httpEndPointPort === serverPort',
    after: 'httpEndPointIp !== null && serverIp !== serverPort',
    rows: ['a node is believed about itself alone'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: "own?.state === 'Leader' && own.isReadOnlyReplica !== true",
    after: "own?.state === 'Leader'",
    rows: ['the leader of a read-only replica'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: 'if (bytes > MAX_BYTES) throw',
    after: 'if (bytes < 0) throw',
    rows: ['an answer that cannot be read, breaks off, is endless'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: '{ ...target, ...certificates, checkServerIdentity: identity }',
    after: '{ ...target, checkServerIdentity: identity }',
    rows: ['the certificates of the connection hold for the question too'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/gossip.ts',
    before: 'errors.every((error) => error !== undefined)',
    after: 'errors[0] !== undefined',
    rows: ['the certificates of the connection hold for the question too'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'b.epoch - a.epoch',
    after: 'a.epoch - b.epoch',
    rows: ['none that answers says so in a later epoch'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'if (isSingle && named.length === 0) return configured',
    after: 'if (isSingle) return configured',
    rows: ['one host is taken as it is given'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'return isSingle ? configured : []',
    after: 'return []',
    rows: ['one host is taken as it is given'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'return [...resolved, first]',
    after: 'return resolved',
    rows: ['the leader of one node'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'const numbers = await resolve(first.host)',
    after: 'const numbers = resolved.length > 0 ? resolved.map(({ host }) => host) : await resolve(first.host)',
    rows: ['anew with every search'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/nodes/discovery.ts',
    before: 'await atMost(timers, WAIT_MS, Promise.all(nodes.map(askOnce)))',
    after: 'await Promise.all(nodes.map(askOnce))',
    rows: ['a search does not wait for a silent node'], test: EVENTSTOREDB_DISCOVERY,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: '    former.lost.abort()\n',
    after: '',
    rows: ['what runs on it ends'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'silent === 0 ? null : search(null, mayReplace)',
    after: 'null',
    rows: ['whoever answers as the leader takes its place'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: "|| (await probing).kind !== 'leads'",
    after: '|| true',
    rows: ['a leader that is silent once keeps its channel'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'silent === MAX_SILENT_PROBES',
    after: 'silent === 1',
    rows: ['a leader that is silent once is kept'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: '      if (isProbedOften) await search(present)\n',
    after: '',
    rows: ['is left for one of a later epoch, and for no other'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'present !== null && !isLater(candidate, present)',
    after: 'present === undefined',
    rows: ['is left for one of a later epoch, and for no other'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'if (leadership?.channel.client !== client) return',
    after: 'if (leadership === null) return',
    rows: ['a call that is told who leads instead'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: 'probe.leader !== null) discovery.addNode(probe.leader)',
    after: 'probe.leader !== null) discovery.candidates()',
    rows: ['a call that is told who leads instead'], test: EVENTSTOREDB_LEADER,
  },
  {
    file: 'infrastructure/eventstoredb/leader.ts',
    before: '      channel.retire()\n      searchResult',
    after: '      searchResult',
    rows: ['a candidate that does not answer as the leader is passed over'], test: EVENTSTOREDB_LEADER,
  },
]
