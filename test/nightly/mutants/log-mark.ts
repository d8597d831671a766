import type { Mutant } from './mutant.ts'

const CONTRACT_EVENTSTOREDB_EVENT_STORE = 'test/contract/eventstoredb-event-store.test.ts'

/** The owner of a log and its format. */
export const logMarkMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: 'owner.cluster === null && owner.directory === own.directory',
    after: 'owner.directory === own.directory',
    rows: ['a log belongs to the data directory that opened it first'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: 'owner.cluster !== null && owner.cluster === own.cluster',
    after: 'owner.cluster === own.cluster',
    rows: ['a log belongs to the data directory that opened it first'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: 'present.incarnation !== owner.incarnation &&',
    after: 'present.incarnation === owner.incarnation &&',
    rows: ['whose log was taken is told so'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: '{ ...options, expectedRevision: revision }',
    after: 'options',
    rows: ['of many that open a new log at once one has it'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: '{ ...members, format: FORMAT,',
    after: '{ format: FORMAT,',
    rows: ['whose log was taken is told so'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: ' ?? (await ownership.ownershipProblem())',
    after: '',
    rows: ['who was replaced in MongoDB before it had the log'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-owner.ts',
    before: ' && !isSibling(present, owner)',
    after: '',
    rows: ['processes of one MongoDB share a log'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/mark/log-format.ts',
    before: 'owner: isShared ? before : owner',
    after: 'owner',
    rows: ['a member raises the format'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
]
