import type { Mutant } from './mutant.ts'

const AUDIT_ADMINISTRATORS = 'test/unit/application/audit/audit-administrators.test.ts'
const AUDIT = 'test/unit/application/audit/audit.test.ts'
const AUDIT_VIOLATIONS = 'test/unit/application/audit/audit-violations.test.ts'
const COMPARE_WITH_LOG = 'test/unit/projections/compare-with-log.test.ts'
const ERASURE_RULES = 'test/unit/application/audit/erasure-rules.test.ts'

/** `stenolog check` reports every violation of a rule and nothing else. */
export const auditMutants: ReadonlyArray<Mutant> = [
  {
    file: 'projections/compare-with-log.ts',
    before: 'position === null || position > checkpoint.position',
    after: 'position !== null && position > checkpoint.position',
    rows: ['changes and removals ahead of the checkpoint, as a crash leaves them, are not reported'],
    test: COMPARE_WITH_LOG,
  },
  {
    file: 'projections/compare-with-log.ts',
    before: 'position === null || position > checkpoint.position',
    after: 'true',
    rows: ['a document at or before its checkpoint must equal the log up to the checkpoint'],
    test: COMPARE_WITH_LOG,
  },
  {
    file: 'projections/compare-with-log.ts',
    before: '!isUndecided(difference)), ...remaining]',
    after: '!isUndecided(difference))]',
    rows: ['a wrong document ahead of its checkpoint is reported'], test: COMPARE_WITH_LOG,
  },
  {
    file: 'application/audit/order-rules.ts',
    before: 'if (epoch !== live.epoch + 1) return',
    after: 'if (epoch <= live.epoch) return',
    rows: ['sender 2 connected instead of sender 1'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/admission-rules.ts',
    before: 'return held > worker.vram ?',
    after: 'return vram > worker.vram ?',
    rows: ['revision 4 of admission'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/admission-rules.ts',
    before: 'if (liveId <= state.lastLiveId) return',
    after: 'if (liveId < 0) return',
    rows: ['session 1 was admitted after session 2'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/order-rules.ts',
    before: "status !== 'none' && !isOpen({ status })",
    after: "status !== 'none'",
    rows: ['session 1 was released before its end'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/order-rules.ts',
    before: 'reserved.vram === vram && hasAssignment',
    after: 'hasAssignment',
    rows: ['the session differs from its reservation'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'domain/admission/state.ts',
    before: 'state.open.filter((held) => held.liveId !== event.data.liveId)',
    after: 'state.open',
    rows: ['revision 0 of live-1: .* without a reservation'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/segment-rules.ts',
    before: 'return segment > last ? null',
    after: 'return segment >= last ? null',
    rows: ['segment 1 after segment 1'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/segment-rules.ts',
    before: 'isGap || segment <= last\n',
    after: 'isGap || segment <= last + 1\n',
    rows: ['a translation of segment 1 before that segment'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/segment-rules.ts',
    before: 'if (eventTerm < term) return',
    after: 'if (eventTerm < 0) return',
    rows: ['a segment of term 1 after the fence of term 2'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/segment-rules.ts',
    before: "term: next, isGap }\n  const",
    after: "term, isGap }\n  const",
    rows: ['a history that follows the rules passes'], test: AUDIT,
  },
  {
    file: 'application/audit/order-rules.ts',
    before: '(reserved.term > term || (reserved.term === term',
    after: '(reserved.term > 0 || (reserved.term === term',
    rows: ['took over the session in term 2 without an assignment'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'domain/key-subject.ts',
    before: '(user|live|text)',
    after: '(user|live)',
    rows: ['key text-1: still exists although session 1 was deleted'], test: AUDIT_VIOLATIONS,
  },
  {
    file: 'application/audit/erasure-rules.ts',
    before: '      lives.delete(liveId)\n',
    after: '',
    rows: ['a history that follows the rules passes'], test: AUDIT,
  },
  {
    file: 'application/log/skip-damaged.ts',
    before: 'throw error',
    after: 'return',
    rows: ['a log that ends in an error is not reported as clean'], test: ERASURE_RULES,
  },
  {
    file: 'application/log/skip-damaged.ts',
    before: '        onDamaged(row)\n',
    after: '',
    rows: ['after a damaged row all checkable events are checked, and the rest is reported as unchecked'], test: AUDIT,
  },
  {
    file: 'application/audit/check-log.ts',
    before: 'damaged.splice(0).forEach(addDamagedRow)',
    after: 'damaged.splice(0)',
    rows: ['after a damaged row all checkable events are checked, and the rest is reported as unchecked'], test: AUDIT,
  },
  {
    file: 'application/audit/check-log.ts',
    before: 'const head = orThrow(await store.head())',
    after: 'const head = E.getOrElse(() => BEGINNING)(await store.head())',
    rows: ['an unreadable log is not reported as clean'], test: AUDIT,
  },
  {
    file: 'application/audit/segment-rules.ts',
    before: 'const isKnown = isGap ||',
    after: 'const isKnown =',
    rows: ['a log is valid after a scavenge removes any events of forgotten segments except the last'], test: AUDIT,
  },
  {
    file: 'application/audit/segment-rules.ts',
    before: 'last: isGap ? Math.max(last, segment) : last',
    after: 'last',
    rows: ['events after a gap are checked against the remaining events: a segment out of order is reported'],
    test: AUDIT,
  },
  {
    file: 'application/audit/check-log.ts',
    before: '    (event.stream === ADMINISTRATORS_STREAM && unsure',
    after: '    (false && unsure',
    rows: ["the list of administrators must match the users' streams, as far as these are readable"],
    test: AUDIT_ADMINISTRATORS,
  },
  {
    file: 'application/audit/order-rules.ts',
    before: 'const newest = revisions.get(userStream(userId)) ?? -1',
    after: 'const newest = revisions.get(userStream(userId)) ?? 0',
    rows: ["the list of administrators must match the users' streams, as far as these are readable"],
    test: AUDIT_ADMINISTRATORS,
  },
  {
    file: 'application/audit/order-rules.ts',
    before: "event.type === 'PasswordChanged' || event.type === 'LoginsEnded' ?",
    after: "event.type === 'PasswordChanged' ?",
    rows: ['user-3: login generation'], test: 'test/unit/application/audit/audit-violations.test.ts',
  },
]
