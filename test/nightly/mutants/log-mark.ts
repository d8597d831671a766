import type { Mutant } from './mutant.ts'

const CONTRACT_EVENTSTOREDB_EVENT_STORE = 'test/contract/eventstoredb-event-store.test.ts'

/** The owner of a log and its format. */
export const logMarkMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: 'owner.cluster === null && owner.directory === own.directory',
    after: 'owner.directory === own.directory',
    rows: ['a log belongs to its first data directory or MongoDB database; another owner is refused'],
    test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: 'owner.cluster !== null && owner.cluster === own.cluster',
    after: 'owner.cluster === own.cluster',
    rows: ['a log belongs to its first data directory or MongoDB database; another owner is refused'],
    test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: 'present.incarnation !== owner.incarnation &&',
    after: 'present.incarnation === owner.incarnation &&',
    rows: ['the previous owner learns that its log was taken'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: '{ ...options, expectedRevision: revision }',
    after: 'options',
    rows: ['exactly one of many concurrent processes owns a new log'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: '{ ...members, format: FORMAT,',
    after: '{ format: FORMAT,',
    rows: ['the previous owner learns that its log was taken'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: ' ?? (await ownership.ownershipProblem())',
    after: '',
    rows: ['a member that was replaced in MongoDB before it opened the log does not take the log over'],
    test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: ' && !isSibling(present, owner)',
    after: '',
    rows: ['processes of one MongoDB database share a log, and each learns of a new owner'],
    test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: 'owner: isShared ? storedOwner : owner',
    after: 'owner',
    rows: ['a member raises the format'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
]
