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
    rows: ['an append with "any" is not sent again when its events are among the last of the stream'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'limit: events.length + MAX_LATER_EVENTS',
    after: 'limit: events.length',
    rows: ['an append with "any" is not sent again when its events are among the last of the stream'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'ids.every((id, index) => tail.right[from + index]?.id === id)',
    after: 'ids.some((id, index) => tail.right[from + index]?.id === id)',
    rows: ['an append with "any" is not sent again when its events are among the last of the stream'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'const expectedRevision = toServer(expected)',
    after: "const expectedRevision = 'any' as const",
    rows: ['exactly one of 200 concurrent appends at one revision succeeds, in every round'],
    test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/calls.ts',
    before: 'requiresLeader: true, deadline }',
    after: 'requiresLeader: true }',
    rows: ['an append goes only to the leader, with account, expected revision and a server-side deadline'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/calls.ts',
    before: 'call(client, { credentials, requiresLeader: true,',
    after: 'call(client, { requiresLeader: true,',
    rows: ['an append goes only to the leader, with account, expected revision and a server-side deadline'],
    test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'if (bytes > MAX_BYTES)',
    after: 'if (bytes < 0)',
    rows: ['an append above the maximum size throws and is not sent'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/appends.ts',
    before: 'actualVersion >= 0n ?',
    after: 'actualVersion > 0n ?',
    rows: ['a wrong revision is returned with the current revision, also for revision 0'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/call-timeouts.ts',
    before: 'limits.short : limits.usual',
    after: 'limits.usual : limits.usual',
    rows: ['only the first unanswered call waits for the full time'], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/call-timeouts.ts',
    before: '      suspectUntil = 0\n',
    after: '',
    rows: ['only the first unanswered call waits for the full time'], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/positions.ts',
    before: "String(prepare).padStart(DIGITS, '0')",
    after: 'String(prepare)',
    rows: ['positions, including checkpoints between events, sort like the log and convert back'],
    test: EVENTSTOREDB_CONNECTION,
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
    rows: ['setting the limits of a stream keeps concurrent changes'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/stream-limits.ts',
    before: '{ ...options, expectedRevision }',
    after: '{ ...options }',
    rows: ['setting the limits of a stream keeps concurrent changes'], test: EVENTSTOREDB_CALLS,
  },
  {
    file: 'infrastructure/eventstoredb/stream-limits.ts',
    before: '        ...Object.fromEntries(others),\n',
    after: '',
    rows: ['limits of a deleted stream neither restore old events nor hide new ones'],
    test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/stream-limits.ts',
    before: 'if (isDeleted(known.right)) return E.right(undefined)',
    after: '',
    rows: ['limits of a deleted stream neither restore old events nor hide new ones'],
    test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'eventsBefore: taken + subscription.readableLength',
    after: 'eventsBefore: taken',
    rows: ['a slow consumer is caught up only after all earlier events'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'toPosition(eventPosition) <= position) return null',
    after: 'eventPosition === null) return null',
    rows: ['a subscription begins after the given position'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'fromPosition: point,',
    after: "fromPosition: 'end',",
    rows: ['a subscription begins after the given position'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/subscriptions.ts',
    before: 'if (isSamePoint(point, pointNow)) return feed',
    after: 'if (again !== null) return feed',
    rows: ['a scavenge between the backward read and the subscription loses nothing'], test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/resume-point.ts',
    before: "return E.right(before?.event?.position ?? 'start')",
    after: "return E.right(before === undefined ? 'start' : fromPosition)",
    rows: ['a subscription resumes from any position, also of a scavenged record, without a loss or repeat'],
    test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/resume-point.ts',
    before: 'tries < 2',
    after: 'tries < 1',
    rows: ['a server that cannot read backwards at the moment is not mistaken for an older log'],
    test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/resume-point.ts',
    before: 'return E.left(olderLog(`the log has no position ${position}',
    after: 'return E.left(unavailable(`the log has no position ${position}',
    rows: ['an unknown position below the end shows that the log is an older copy'],
    test: EVENTSTOREDB_RESUMES,
  },
  {
    file: 'infrastructure/eventstoredb/connection.ts',
    before: 'if (!OPTIONS.has(name)) return',
    after: "if (name === '') return",
    rows: ['an invalid connection string is refused without its secret ('], test: EVENTSTOREDB_CONNECTION,
  },
  {
    file: 'infrastructure/eventstoredb/connection.ts',
    before: '(?:esdb|kurrentdb|kurrent|kdb)',
    after: '(?:esdb|kurrentdb)',
    rows: ['the newer scheme names mean the same as the older one'], test: EVENTSTOREDB_CONNECTION,
  },
]
