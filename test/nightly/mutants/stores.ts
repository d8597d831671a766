import type { Mutant } from './mutant.ts'

const DURABILITY = 'test/nightly/servers/mongodb-durability.test.ts'

/** Mutants of the stores that no test noticed at first. */
export const storeMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/mongodb/guarded-writes.ts',
    before: 'filter: { _id, v: { $lt: v } }',
    after: 'filter: { _id }',
    rows: ['an overtaken writer does not overwrite newer data'], test: DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: "w: 'majority', journal: true",
    after: 'w: 1, journal: true',
    rows: ['reads see no data that an election can remove'], test: DURABILITY,
  },
  {
    file: 'infrastructure/mongodb/connection.ts',
    before: "readPreference: 'primary'",
    after: "readPreference: 'secondaryPreferred'",
    rows: ['reads see acknowledged writes at once, despite a lagging secondary'], test: DURABILITY,
  },
  {
    file: 'infrastructure/sqlite/database.ts',
    before: 'PRAGMA synchronous = ${synchronous};',
    after: 'PRAGMA synchronous = OFF;',
    rows: ['acknowledged events are synced to the disk, read models are not, and a stop leaves no extra files'],
    test: 'test/e2e/compose/stores-on-disk.test.ts',
  },
  {
    file: 'infrastructure/sqlite/event-log/verify-chain.ts',
    before: 'if (written !== last) return',
    after: 'if (written === -1) return',
    rows: ['the number of written rows and the stream table reveal rows that were cut off the end'],
    test: 'test/contract/sqlite/event-log-integrity.test.ts',
  },
  {
    file: 'projections/older-log.ts',
    before: 'stored.id === id ? null',
    after: 'true ? null',
    rows: ['an older copy of the log that has grown is recognised by the last seen event'],
    test: 'test/unit/projections/older-log.test.ts',
  },
  {
    file: 'projections/older-log.ts',
    before: 'end === undefined || end.revision < revision',
    after: 'false',
    rows: ['an older copy of the log that has grown is recognised by the last seen event'],
    test: 'test/unit/projections/older-log.test.ts',
  },
  {
    file: 'projections/rebuild/discard-newer-than-log.ts',
    before: 'if (first === undefined) return E.right(undefined)',
    after: 'if (first === undefined || deps.duties.length > 0) return E.right(undefined)',
    rows: ['with an older log a start is refused and read models stay; a duty that runs starts again'],
    test: 'test/unit/projections/older-log.test.ts',
  },
  {
    file: 'application/log/log-duty.ts',
    before: 'done, token))',
    after: 'done))',
    rows: ['a frozen holder of a duty cannot move its checkpoint after a takeover'],
    test: 'test/unit/application/log/duties-under-leases.test.ts',
  },
  {
    file: 'projections/reads/log-read.ts',
    before: 'events: 500, ms: 5000',
    after: 'events: 500, ms: Infinity',
    rows: ['events without changes only advance the checkpoint, every 500 events or five seconds'],
    test: 'test/unit/projections/projector.test.ts',
  },
  {
    file: 'projections/older-log.ts',
    before: 'if (reason !== null) throw',
    after: 'if (reason === undefined) throw',
    rows: ['an older copy under a running service stops the projections until the newer log returns'],
    test: 'test/unit/projections/older-log.test.ts',
  },
  {
    file: 'projections/older-log.ts',
    before: 'position > head.right',
    after: 'position >= head.right',
    rows: ['read models at the end of the log stay, as after every clean stop'],
    test: 'test/unit/projections/older-log.test.ts',
  },
  {
    file: 'infrastructure/keys/envelope.ts',
    before: 'JSON.stringify([name, stream, member])',
    after: 'name',
    rows: ['an envelope opens only in its stream and for its member'],
    test: 'test/contract/sqlite-keyring.test.ts',
  },
]
