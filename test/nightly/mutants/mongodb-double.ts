import type { Mutant } from './mutant.ts'

const DOUBLE = 'test/nightly/servers/mongodb-double.test.ts'
const DOUBLE_SET = 'test/nightly/servers/mongodb-double-set.test.ts'
const DOUBLE_WRITES = 'test/nightly/servers/mongodb-double-writes.test.ts'

/** The double of MongoDB must not accept more than a real server; otherwise tests with it prove nothing. */
export const mongoDoubleMutants: ReadonlyArray<Mutant> = [
  {
    file: 'test/support/doubles/mongodb/server.ts',
    before: 'if (!isLenient) throw refusalOf(weak)',
    after: '',
    rows: ['the double refuses writes without durable acknowledgement'], test: DOUBLE,
  },
  {
    file: 'test/support/doubles/mongodb/replica-set.ts',
    before: 'if (next === undefined || members.filter(isInTouch).length < quorum) return',
    after: 'if (next === undefined) return',
    rows: ['an election needs a majority'], test: DOUBLE_SET,
  },
  {
    file: 'test/support/doubles/mongodb/replica-set.ts',
    before: 'new Date(Date.now() + skewMs)',
    after: 'new Date(Date.now() + 0 * skewMs)',
    rows: ['each member has its own clock'], test: DOUBLE_WRITES,
  },
]
