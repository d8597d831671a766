import type { Mutant } from './mutant.ts'

const EVENTSTOREDB_CALLS = 'test/contract/eventstoredb/calls.test.ts'
const CONTRACT_EVENTSTOREDB_EVENT_STORE = 'test/contract/eventstoredb-event-store.test.ts'
const EVENTSTOREDB_RESUMES = 'test/contract/eventstoredb/resumes.test.ts'
const EVENTSTOREDB_CONNECTION = 'test/contract/eventstoredb/connection.test.ts'

/** The event store on EventStoreDB. */
export const eventStoreDbMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'if (earlier.right !== null) return E.right(earlier.right)',
    after: '',
    rows: ['an append with any that is among the last of its stream is not sent again'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'limit: events.length + MAX_LATER_EVENTS',
    after: 'limit: events.length',
    rows: ['an append with any that is among the last of its stream is not sent again'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'ids.every((id, index) => tail.right[from + index]?.id === id)',
    after: 'ids.some((id, index) => tail.right[from + index]?.id === id)',
    rows: ['an append with any that is among the last of its stream is not sent again'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'const expectedRevision = toServer(expected)',
    after: "const expectedRevision = 'any' as const",
    rows: ['exactly one wins, round after round'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/calls.ts',
    before: 'requiresLeader: true, deadline }',
    after: 'requiresLeader: true }',
    rows: ['every append is sent with the account, to the leader alone, with its expected revision, and a limit'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/calls.ts',
    before: 'call(client, { credentials, requiresLeader: true,',
    after: 'call(client, { requiresLeader: true,',
    rows: ['every append is sent with the account, to the leader alone, with its expected revision, and a limit'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'if (bytes > MAX_BYTES)',
    after: 'if (bytes < 0)',
    rows: ['an append that is larger than the server takes is a defect'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'actualVersion >= 0n ?',
    after: 'actualVersion > 0n ?',
    rows: ['a wrong revision is told with the one that is there'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/call-timeouts.ts',
    before: 'limits.short : limits.usual',
    after: 'limits.usual : limits.usual',
    rows: ['only the first of the calls that get no answer waits long'], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/call-timeouts.ts',
    before: '      suspectUntil = 0\n',
    after: '',
    rows: ['only the first of the calls that get no answer waits long'], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/positions.ts',
    before: "String(prepare).padStart(DIGITS, '0')",
    after: 'String(prepare)',
    rows: ['positions sort as the log does'], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/calls.ts',
    before: 'return isMissingStream(error) ?',
    after: 'return error === null ?',
    rows: ['an unknown stream reads as empty'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/stream-limits.ts',
    before: 'return E.right(false)',
    after: 'return E.right(true)',
    rows: ['limits of a stream are set without undoing what others have set'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/stream-limits.ts',
    before: '{ ...options, expectedRevision }',
    after: '{ ...options }',
    rows: ['limits of a stream are set without undoing what others have set'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/stream-limits.ts',
    before: '        ...Object.fromEntries(others),\n',
    after: '',
    rows: ['limits set for a deleted stream do not bring it back'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/stream-limits.ts',
    before: 'if (isDeleted(known.right)) return E.right(undefined)',
    after: '',
    rows: ['limits set for a deleted stream do not bring it back'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'after: taken + subscription.readableLength',
    after: 'after: taken',
    rows: ['a slow consumer is caught up only when it has the events before'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'toPosition(place) <= position) return null',
    after: 'place === null) return null',
    rows: ['a subscription begins after the position that it is given'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'fromPosition: point,',
    after: "fromPosition: 'end',",
    rows: ['a subscription begins after the position that it is given'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'if (isSamePoint(point, again)) return feed',
    after: 'if (again !== null) return feed',
    rows: ['a scavenge between the look back and the subscription loses nothing'], test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/resume-point.ts',
    before: "return E.right(before?.event?.position ?? 'start')",
    after: "return E.right(before === undefined ? 'start' : fromPosition)",
    rows: ['also of a record that a scavenge took, without a loss or a repeat'], test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/resume-point.ts',
    before: 'tries < 2',
    after: 'tries < 1',
    rows: ['a server that cannot read back at the moment is not taken for one with an older log'],
    test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/resume-point.ts',
    before: 'return E.left(olderLog(`the log has no position ${position}',
    after: 'return E.left(unavailable(`the log has no position ${position}',
    rows: ['a position that is none of the log, which has grown beyond it, is that of an older copy'],
    test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/connection.ts',
    before: 'if (!OPTIONS.has(name)) return',
    after: "if (name === '') return",
    rows: ['what is no connection is refused without its secret'], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/connection.ts',
    before: '(?:esdb|kurrentdb|kurrent|kdb)',
    after: '(?:esdb|kurrentdb)',
    rows: ["the newer names of the server's scheme mean the same"], test: EVENTSTOREDB_CONNECTION,
  },
]
