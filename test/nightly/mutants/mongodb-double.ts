import type { Mutant } from './mutant.ts'

const DOUBLE = 'test/nightly/servers/mongodb-double.test.ts'
const DOUBLE_SET = 'test/nightly/servers/mongodb-double-set.test.ts'

/** The double of MongoDB: where it is kinder than a server, tests of the product on it prove nothing. */
export const mongoDoubleMutants: ReadonlyArray<Mutant> = [
  {
    file: 'test/support/doubles/mongodb/server.ts',
    before: 'if (!isLenient) throw refusalOf(weak)',
    after: '',
    rows: ['the double takes no write that may be acknowledged before it is durable'], test: DOUBLE,
  },
  {
    file: 'test/support/doubles/mongodb/replica-set.ts',
    before: 'if (next === undefined || members.filter(isInTouch).length < quorum) return',
    after: 'if (next === undefined) return',
    rows: ['nobody is elected without most members'], test: DOUBLE_SET,
  },
  {
    file: 'test/support/doubles/mongodb/replica-set.ts',
    before: 'new Date(Date.now() + skewMs)',
    after: 'new Date(Date.now() + 0 * skewMs)',
    rows: ['each member has a clock of its own'], test: DOUBLE_SET,
  },
]
