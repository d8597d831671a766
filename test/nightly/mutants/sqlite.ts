import type { Mutant } from './mutant.ts'

const CONTRACT_SQLITE_EVENT_STORE = 'test/contract/sqlite-event-store.test.ts'
const APPEND_OUTCOME = 'test/unit/infrastructure/append-outcome.test.ts'
const EVENT_STORE_FAILURES = 'test/contract/sqlite/event-store-failures.test.ts'
const KEYRING_CACHE = 'test/contract/sqlite/keyring-cache.test.ts'
const EVENT_LOG_ROWS = 'test/contract/sqlite/event-log-rows.test.ts'
const EVENT_LOG_INTEGRITY = 'test/contract/sqlite/event-log-integrity.test.ts'
const EVENT_LOG_SUBSCRIPTIONS = 'test/contract/sqlite/event-log-subscriptions.test.ts'
const WRITER = 'test/contract/sqlite/writer.test.ts'
const CONTRACT_SQLITE_DOCUMENTS = 'test/contract/sqlite-documents.test.ts'

/** The embedded stores: acknowledged data stays in order, and erased data is gone. */
export const sqliteMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/stores/append-outcome.ts',
    before: 'if (expected === stream.last && expected >= 0) return append',
    after: 'if (expected >= 0) return append',
    rows: ['exactly one of 200 concurrent appends at one revision succeeds, in every round'],
    test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/stores/append-outcome.ts',
    before: 'ids.every((id, index) => stream.idAt(from + index) === id)',
    after: 'ids.some((id, index) => stream.idAt(from + index) === id)',
    rows: ['a retry that matches only in part is a wrong revision'], test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/stores/append-outcome.ts',
    before: 'return isStoredAt(from) ? stored(from) : append',
    after: 'return append',
    rows: ['a retry with "any" returns the first answer while its events are the last in the stream'],
    test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/stores/append-outcome.ts',
    before: 'if (isStoredAt(stream.base)) return stored(stream.base)',
    after: '',
    rows: ['a deleted stream begins again, and a retry of its new beginning is recognised'], test: APPEND_OUTCOME,
  },
  {
    file: 'infrastructure/stores/append-outcome.ts',
    before: 'return stream.base > stream.last ? append',
    after: 'return stream.last < 0 ? append',
    rows: ['a deleted stream counts as missing for the expected revision'], test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/sqlite/group-commit.ts',
    before: 'jobs.map(() => failed(error)) : jobs.flatMap((job) => commit([job]))',
    after: 'jobs.map(() => failed(error)) : jobs.map(() => failed(error))',
    rows: ['an impossible commit fails without affecting the other commits of its batch'], test: EVENT_STORE_FAILURES,
  },
  {
    file: 'infrastructure/sqlite/keyring/keyring-worker.ts',
    before: 'if (!isTruncated()) timer = setTimeout(run, TRUNCATION_RETRY_MS)',
    after: 'isTruncated()',
    rows: ['an erasure does not wait for a long read, and the key leaves the disk when the read ends'],
    test: KEYRING_CACHE,
  },
  {
    file: 'infrastructure/sqlite/group-commit.ts',
    before: 'rolledBack?.()\n',
    after: '',
    rows: ['a full disk makes appends unavailable until there is space again'], test: EVENT_STORE_FAILURES,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: 'const at = Math.max(now(), newest.at)',
    after: 'const at = Date.now()',
    rows: ['the times of rows never decrease, even when the clock goes back'], test: EVENT_LOG_ROWS,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: '    prev = hash\n',
    after: '',
    rows: ['an empty log and a log during writes pass the check'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: '  newest = null\n}',
    after: '}',
    rows: ['a full disk makes appends unavailable until there is space again'], test: EVENT_STORE_FAILURES,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: '  cachedStreams.clear()\n',
    after: '',
    rows: ['a full disk makes appends unavailable until there is space again'], test: EVENT_STORE_FAILURES,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: 'base = last + 1, oldest_at',
    after: 'oldest_at',
    rows: ['a deleted stream counts as missing for the expected revision'], test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: 'if (stream.isLimited !== 0) {',
    after: 'if (stream.isLimited < 0) {',
    rows: ['$maxCount keeps the last events and their revisions'], test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: 'oldest_at = coalesce(oldest_at, ?)',
    after: 'oldest_at = ?',
    rows: ['the oldest event decides when a stream with $maxAge is purged'], test: EVENT_LOG_ROWS,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-row.ts',
    before: '[row.pos, row.stream, row.rev, row.type, row.id, row.at]',
    after: '[row.pos, row.rev, row.type, row.id, row.at]',
    rows: ['the check names events that were moved to another stream'], test: EVENT_LOG_ROWS,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-row.ts',
    before: '[row.pos, row.stream, row.rev, row.type, row.id, row.at]',
    after: '[row.pos, row.stream, row.rev, row.type, row.id]',
    rows: ['a changed time of an event is refused by reads'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-row.ts',
    before: '[row.pos, row.stream, row.rev, row.type, row.id, row.at]',
    after: '[row.pos, row.stream, row.rev, row.id, row.at]',
    rows: ['a changed type of an event is refused by reads'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-row.ts',
    before: 'sha256(data) + sha256(metadata)',
    after: 'sha256(data) + sha256(data)',
    rows: ['a changed metadata of an event is refused by reads'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-retention.ts',
    before: 'SET data = NULL, metadata = NULL, digests = ?',
    after: 'SET digests = ?',
    rows: ['purged rows lose their content and keep their place in the chain'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-retention.ts',
    before: 'contentDigests(data, metadata)',
    after: 'contentDigests(metadata, data)',
    rows: ['purged rows lose their content and keep their place in the chain'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-window.ts',
    before: 'e.pos <= :upTo AND e.rev >= s.first',
    after: 'e.pos <= :upTo',
    rows: ['a subscription delivers no truncated or deleted event'], test: EVENT_LOG_SUBSCRIPTIONS,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-window.ts',
    before: 'rows.length === MAX_ROWS ? (rows.at(-1)?.pos ?? upTo) : upTo',
    after: 'upTo',
    rows: ['a subscription delivers the log from its beginning'], test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/sqlite/event-log/subscriptions.ts',
    before: 'if (all.damaged !== null) return',
    after: 'if (all === null) return',
    rows: ['of an event is refused by reads and named by the check; other streams work'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/subscriptions.ts',
    before: 'if (after > head) throw',
    after: 'if (after < 0) throw',
    rows: ['a subscription from beyond the end of the log is refused'], test: EVENT_LOG_SUBSCRIPTIONS,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-reader.ts',
    before: 'row.rev !== before.rev + step',
    after: 'row.rev === before.rev',
    rows: ['a row removed from a stream is refused by reads and named by the check'], test: EVENT_LOG_INTEGRITY,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-reader.ts',
    before: 'BETWEEN max(:low, s.first) AND :high',
    after: 'BETWEEN :low AND :high',
    rows: ['a deleted stream reads as empty, and its revisions keep counting'], test: CONTRACT_SQLITE_EVENT_STORE,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-store.ts',
    before: 'if (E.isLeft(answer)) return refused(stream, answer.left)\n    if (answer',
    after: 'if (answer',
    rows: ['an append that cannot be written fails as unavailable; reads and later appends work'],
    test: EVENT_STORE_FAILURES,
  },
  {
    file: 'infrastructure/sqlite/writer.ts',
    before: "    flush()\n    worker.postMessage({ kind: 'close' }",
    after: "    worker.postMessage({ kind: 'close' }",
    rows: ['close finishes the submitted jobs'], test: WRITER,
  },
  {
    file: 'infrastructure/sqlite/writer.ts',
    before: "if (closed) return Promise.resolve(E.left('the store is closed'))",
    after: '',
    rows: ['each job gets its own answer, whatever other jobs fail and however many worker threads die'], test: WRITER,
  },
  {
    file: 'infrastructure/sqlite/documents/documents-worker.ts',
    before: 'excluded.position >= position AND ',
    after: '',
    rows: ['the checkpoint never goes back'], test: CONTRACT_SQLITE_DOCUMENTS,
  },
  {
    file: 'infrastructure/sqlite/documents/documents-worker.ts',
    before: ' AND excluded.token >= token',
    after: '',
    rows: ['a writer with a lower token does not move the checkpoint of a writer with a higher token'],
    test: CONTRACT_SQLITE_DOCUMENTS,
  },
  {
    file: 'infrastructure/sqlite/documents/documents-worker.ts',
    before: 'WHERE excluded.position > stored.position',
    after: '',
    rows: ['a put at an equal or older position changes nothing'], test: CONTRACT_SQLITE_DOCUMENTS,
  },
  {
    file: 'infrastructure/sqlite/copy-database.ts',
    before: "await writeFile(target, '', { mode: 0o600, flag: 'wx' })",
    after: "await writeFile(target, '', { flag: 'wx' })",
    rows: ['a copy of a database is private to its owner and contains nothing deleted'], test: EVENT_LOG_ROWS,
  },
  {
    file: 'infrastructure/sqlite/copy-database.ts',
    before: '        recordErasure.run(name, Date.now())\n',
    after: '',
    rows: ['keys erased from a closed keyring are permanently gone and reported as erased'], test: EVENT_LOG_ROWS,
  },
]
