import type { Mutant } from './mutant.ts'

const MEMBERS = 'test/infrastructure/members.test.ts'
const CONTRACT_MEMBERS = 'test/contracts/members.test.ts'
const CONTRACT_EVENTSTOREDB_EVENT_STORE = 'test/contracts/eventstoredb-event-store.test.ts'

/** That one process uses one set of stores. */
export const memberMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/mongodb/members.ts',
    before: "if (member.directory === directory) return 'gone'",
    after: '',
    rows: ['one that was killed is replaced at once from its data directory'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'silent >= SILENT_LOOKS ?',
    after: 'silent >= SILENT_LOOKS - 1 ?',
    rows: ['one that was killed is replaced at once from its data directory'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'silent = isNew ? 0 : silent + 1',
    after: 'silent += 1',
    rows: ['a place that changes hands is judged anew'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: "if (member.beat !== before?.beat) return 'beats'",
    after: '',
    rows: ['who beats keeps the place'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'if (unanswered < MAX_UNANSWERED) return undefined',
    after: 'return undefined',
    rows: ['a start that MongoDB does not answer ends'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'if (E.isRight(stands) && !stands.right) return tell(await whyReplaced())',
    after: '',
    rows: ['one that was frozen while another took its place is told so'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: '      await register.leave(own)\n',
    after: '',
    rows: ['a member that left need not be waited for'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: ', { unique: true, name: SOLE }',
    after: ', { name: SOLE }',
    rows: ['of many that come at once one is let in'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: ', beat: member.beat }',
    after: ' }',
    rows: ['who has beaten since it was seen is not struck'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: '({ _id: name, incarnation })',
    after: '({ _id: name })',
    rows: ['one member has the place'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/eventstoredb/log-owner.ts',
    before: 'owner === null || owner.directory === own.directory',
    after: 'owner === null || owner.name === own.name',
    rows: ['a log belongs to the data directory that opened it first'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/log-owner.ts',
    before: 'owner.cluster !== null && owner.cluster === own.cluster',
    after: 'owner.cluster === own.cluster',
    rows: ['a log belongs to the data directory that opened it first'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/log-owner.ts',
    before: 'now.incarnation !== owner.incarnation',
    after: 'now.incarnation === owner.incarnation',
    rows: ['whose log was taken is told so'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/log-format.ts',
    before: '{ ...options, expectedRevision: revision }',
    after: 'options',
    rows: ['of many that open a new log at once one has it'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/log-format.ts',
    before: '{ ...members, format: FORMAT,',
    after: '{ format: FORMAT,',
    rows: ['whose log was taken is told so'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/eventstoredb/log-format.ts',
    before: ' ?? (await ownership.whyNot())',
    after: '',
    rows: ['who was replaced in MongoDB before it had the log'], test: CONTRACT_EVENTSTOREDB_EVENT_STORE,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'return stands.right ? null : await whyReplaced()',
    after: 'return null',
    rows: ['one that was frozen while another took its place is told so'], test: MEMBERS,
  },
]
