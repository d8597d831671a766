import type { Mutant } from './mutant.ts'

const CONTRACT_MONGODB_DOCUMENTS = 'test/contract/mongodb-documents.test.ts'
const MONGODB_STORED = 'test/contract/mongodb/stored.test.ts'
const CONTRACT_MONGODB_KEYRING = 'test/contract/mongodb-keyring.test.ts'
const MONGODB_DURABILITY = 'test/nightly/servers/mongodb-durability.test.ts'
const MONGODB_UNANSWERED = 'test/nightly/servers/mongodb-unanswered.test.ts'
const MONGODB_FAILURES = 'test/nightly/servers/mongodb-failures.test.ts'

/** Read models and keys in MongoDB. */
export const mongoMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/mongodb/commits.ts',
    before: '{ _id, v: { $not: { $gt: reached.v } }, token',
    after: '{ _id, token',
    rows: ['the checkpoint never goes back'], test: CONTRACT_MONGODB_DOCUMENTS,
  },
  {
    file: 'infrastructure/mongodb/commits.ts',
    before: '{ $not: { $gt: token } }',
    after: '{ $not: { $gt: token + 1e9 } }',
    rows: ['a writer with a lower token does not move the checkpoint of a writer with a higher token'],
    test: CONTRACT_MONGODB_DOCUMENTS,
  },
  {
    file: 'infrastructure/mongodb/commits.ts',
    before: 'if (previous === undefined || change.position > previous.position)',
    after: 'if (previous === undefined)',
    rows: ['of several changes to one document in a commit, the latest position wins in any order'],
    test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/guarded-writes.ts',
    before: 'if (matchedCount + upsertedCount !== 1) throw',
    after: 'if (matchedCount + upsertedCount < 0) throw',
    rows: ['a write that was acknowledged but not made is a failure'], test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/guarded-writes.ts',
    before: 'if (!isDuplicate(error) || attempt === MAX_ATTEMPTS) throw error',
    after: 'throw error',
    rows: ['a writer that loses the race for a new document succeeds later, with a limited number of attempts'],
    test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/guarded-writes.ts',
    before: 'if (!isDuplicate(error) || attempt === MAX_ATTEMPTS) throw error',
    after: 'if (attempt === MAX_ATTEMPTS) throw error',
    rows: ['a writer that loses the race for a new document succeeds later, with a limited number of attempts'],
    test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/keyring.ts',
    before: '$setOnInsert: { wrapped',
    after: '$set: { wrapped',
    rows: ['concurrent seals under a new key share one key'], test: CONTRACT_MONGODB_KEYRING,
  },
  {
    file: 'infrastructure/mongodb/keyring.ts',
    before: '$unset: { wrapped: true, asked: true }, $currentDate',
    after: '$currentDate',
    rows: ['of an erased key only the name remains on the server'], test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/keyring.ts',
    before: 'if (erasedAt !== undefined) return null',
    after: '',
    rows: ['an erased key neither opens nor seals, and other keys keep working'], test: CONTRACT_MONGODB_KEYRING,
  },
  {
    file: 'infrastructure/mongodb/documents.ts',
    before: '(await collections.current(collection)).collectionName',
    after: 'projection',
    rows: ['after a promotion that a writer missed, the checkpoint covers only documents of the new model'],
    test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/documents.ts',
    before: 'await resetOldCheckpoint(to.projection)',
    after: '',
    rows: ['a checkpoint in the older format holds until the read model is discarded or replaced'],
    test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/collections.ts',
    before: 'if (!(await hasOtherName(name, pointer))) ',
    after: '',
    rows: ['a promotion that stopped between its two writes loses nothing and continues'], test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/collections.ts',
    before: 'if (built !== former) {',
    after: '{',
    rows: ['a promotion that stopped between its two writes loses nothing and continues'], test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/collections.ts',
    before: '      await useNextVersion(from, staged)\n',
    after: '',
    rows: ['a promoted read model replaces the read model in use, any number of times'],
    test: CONTRACT_MONGODB_DOCUMENTS,
  },
  {
    file: 'infrastructure/mongodb/collections.ts',
    before: ', retired: former }',
    after: ' }',
    rows: ['read models get their declared indexes, and a dropped read model loses its documents'],
    test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/marks.ts',
    before: '$max: { format: FORMAT',
    after: '$set: { format: FORMAT',
    rows: ['the format mark of a newer version stays and refuses this version'], test: MONGODB_STORED,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: "w: 'majority', journal: true",
    after: "w: 'majority'",
    rows: ['reads see no data that an election can remove'], test: MONGODB_DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: "  readConcern: new ReadConcern('majority'),\n",
    after: '',
    rows: ['a document of a lost primary does not count as stored'], test: MONGODB_DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: ', wtimeoutMS: limitMs',
    after: '',
    rows: ['a slow server cancels abandoned requests'], test: MONGODB_DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: '[open(limitMs), open(MAINTENANCE_MS)]',
    after: '[open(limitMs), open(limitMs)]',
    rows: ['creating an index may take longer than other requests'], test: MONGODB_DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: 'client.db(name, options)',
    after: 'client.db(name)',
    rows: ['reads see no data that an election can remove'], test: MONGODB_DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/documents.ts',
    before: '.findOne({ _id: id }, { maxTimeMS })',
    after: '.findOne({ _id: id })',
    rows: ['a slow server cancels abandoned requests'], test: MONGODB_DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: '  socketTimeoutMS: limitMs + GRACE_MS,\n',
    after: '',
    rows: ['unanswered update commands leak no connection'], test: MONGODB_UNANSWERED,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: 'await Promise.all([client.connect(), maintenanceClient.connect()])',
    after: 'await client.connect()',
    rows: ['a read model can be created after its server returns'], test: MONGODB_FAILURES,
  },
  {
    file: 'infrastructure/mongodb/page-query.ts',
    before: '[pathOf(by)]: { ...conditions[pathOf(by)], $ne: null }',
    after: 'body: { $ne: null }',
    rows: ['a page examines only the documents that it returns'], test: CONTRACT_MONGODB_DOCUMENTS,
  },
]
