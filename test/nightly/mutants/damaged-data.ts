import type { Mutant } from './mutant.ts'

const DAMAGED_DATA = 'test/unit/application/log/damaged-data.test.ts'
const UNREADABLE_SESSIONS = 'test/unit/application/lives/unreadable-sessions.test.ts'
const HANDLE_COMMAND = 'test/unit/application/log/handle-command.test.ts'
const DELETE_USER = 'test/unit/application/users/delete-user.test.ts'
const SQLITE_KEYRING = 'test/contract/sqlite-keyring.test.ts'
const ADMISSION_ACTOR = 'test/unit/application/admission/admission-actor.test.ts'
const RUN_LIVES = 'test/unit/application/sessions/run-lives.test.ts'
const CATALOGUE_TRANSLATORS = 'test/unit/infrastructure/catalogue-translators.test.ts'

/** Unreadable events stop only work that needs them, and are reported. */
export const damagedDataMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/log/skip-damaged.ts',
    before: 'if (row === undefined || row.position <= position) throw error',
    after: 'if (row === undefined) throw error',
    rows: ['a damaged row that a store repeats endlessly ends the subscription'], test: DAMAGED_DATA,
  },
  {
    file: 'application/log/watched-log.ts',
    before: 'subscribe(from, prefixes, signal)) {',
    after: 'store.subscribe(from, prefixes, signal)) {',
    rows: ['a log follower continues after unreadable events and reports each stream once'], test: DAMAGED_DATA,
  },
  {
    file: 'application/log/watched-log.ts',
    before: 'if (unreadable.has(found.stream) || unreadable.size >= MAX_DESCRIBED) return',
    after: 'if (unreadable.size >= MAX_DESCRIBED) return',
    rows: ['a log follower continues after unreadable events and reports each stream once'], test: DAMAGED_DATA,
  },
  {
    file: 'application/log/watched-log.ts',
    before: 'if (E.isRight(found)) found.right.forEach(check)\n',
    after: 'if (E.isRight(found)) found.right.slice(found.right.length).forEach(check)\n',
    rows: ['damage found by a read is reported too'], test: DAMAGED_DATA,
  },
  {
    file: 'application/log/watched-log.ts',
    before: '            isOlder = true\n',
    after: '',
    rows: ['an older copy of the log is reported once and stays reported'], test: DAMAGED_DATA,
  },
  {
    file: 'interfaces/compose/health.ts',
    before: "if (observed.log.isOlder()) return 'older'",
    after: '',
    rows: ['a service whose event log was replaced by an older copy is not ready'],
    test: 'test/api/http/health.test.ts',
  },
  {
    file: 'application/lives/policies/reconciler.ts',
    before: '!isUnreadable(outcome.left)) ??',
    after: 'outcome.left !== undefined) ??',
    rows: ['an unreadable session is skipped at start and in later rounds, and the others do not wait for it'],
    test: UNREADABLE_SESSIONS,
  },
  {
    file: 'application/lives/policies/reconciler.ts',
    before: 'E.isLeft(outcome) && !isUnreadable(outcome.left)',
    after: 'E.isLeft(outcome) && isUnreadable(outcome.left)',
    rows: ['an unreadable session does not hide an unavailable store for another session'], test: UNREADABLE_SESSIONS,
  },
  {
    file: 'application/log/log-duty.ts',
    before: 'if (!isCausedByUnreadableData(error)) throw error',
    after: 'throw error',
    rows: ['a duty skips work on unreadable data and retries work that a store refused'], test: DAMAGED_DATA,
  },
  {
    file: 'application/log/event-serialization.ts',
    before: 'E.chainW(E.sequenceArray),',
    after: 'E.map(RA.rights),',
    rows: ['a decision is refused when a stored event has a wrong shape or an unknown type'], test: HANDLE_COMMAND,
  },
  {
    file: 'application/users/policies/erase-users.ts',
    before: 'if (E.isRight(removed) || !isUnreadable(removed.left)) return removed',
    after: 'return removed',
    rows: ['a deletion also erases unreadable data and does not stop at it'], test: DELETE_USER,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: 'k !== name || (m !== undefined && !members.includes(m))',
    after: 'k !== name',
    rows: ['an envelope opens only in its stream and for its member'], test: SQLITE_KEYRING,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: 'if (missing.has(name)) {',
    after: 'if (missing.size < 0) {',
    rows: ['an envelope with an unknown key is reported as missing, and the others still open'], test: SQLITE_KEYRING,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: '      missing.add(name)\n',
    after: '',
    rows: ['an envelope with an unknown key is reported as missing, and the others still open'], test: SQLITE_KEYRING,
  },
  {
    file: 'application/admission/admission-actor.ts',
    before: 'isCurrent = E.isRight(first)',
    after: 'isCurrent = true',
    rows: ['while admissions are unreadable every command is refused, and nothing is appended'],
    test: ADMISSION_ACTOR,
  },
  {
    file: 'application/users/queries/is-set-up.ts',
    before: " || log.hasUnreadable('user')",
    after: '',
    rows: ['a log without users or administrators is not set up; a log with unreadable users is set up'],
    test: 'test/unit/application/users/administrators.test.ts',
  },
  {
    file: 'application/sessions/run-lives.ts',
    before: 'if (isUnreadable(done.left)) return',
    after: '',
    rows: ['an unreadable session is skipped, and the others do not wait for it'], test: RUN_LIVES,
  },
  {
    file: 'application/catalogue/commands/list-installed.ts',
    before: 'if (lost.length > 0 || events.some((event) => E.isLeft(readEvent(event)))) {',
    after: 'if (lost.length < 0) {',
    rows: ['when the list cannot be read completely, nothing new is listed and known models stay'],
    test: CATALOGUE_TRANSLATORS,
  },
]
