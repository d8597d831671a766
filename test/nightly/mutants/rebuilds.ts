import type { Mutant } from './mutant.ts'

const STORES_ON_DISK = 'test/e2e/compose/stores-on-disk.test.ts'
const STREAM_DIGEST = 'test/contract/sqlite/stream-digest.test.ts'
const REBUILD_REQUESTS = 'test/unit/projections/rebuild-requests.test.ts'
const REBUILD_RESUMED = 'test/nightly/crash/rebuild-resumed.test.ts'
const REBUILD_INTERRUPTED = 'test/nightly/crash/rebuild-interrupted.test.ts'
const BACKUP_ON_SERVERS = 'test/nightly/servers/backup-on-servers.test.ts'

/** The log on disk, resumed rebuilds, and backups with servers. */
export const rebuildMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: "synchronous: 'FULL'",
    after: "synchronous: 'NORMAL'",
    rows: ['acknowledged events are synced to the disk, read models are not, and a stop leaves no extra files'],
    test: STORES_ON_DISK,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-store.ts',
    before: 'await closeReader()\n      await writer.close()',
    after: 'await writer.close()\n      await closeReader()',
    rows: ['a log that another thread has read leaves only the database file'], test: STORES_ON_DISK,
  },
  {
    file: 'infrastructure/sqlite/database.ts',
    before: 'PRAGMA journal_size_limit = ${JOURNAL_BYTES};',
    after: '',
    rows: ['a write-ahead file that had to grow is truncated'], test: STORES_ON_DISK,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-log-worker.ts',
    before: '    updateDigest.run(name)\n',
    after: '',
    rows: ['regular changes of streams are no damage for the check'], test: STREAM_DIGEST,
  },
  {
    file: 'infrastructure/sqlite/event-log/event-retention.ts',
    before: '      updateDigest.run(stream.sid)\n',
    after: '',
    rows: ['regular changes of streams are no damage for the check'], test: STREAM_DIGEST,
  },
  {
    file: 'infrastructure/sqlite/event-log/stream-digest.ts',
    before: "hash('sha256', JSON.stringify(columns), 'binary')",
    after: "hash('sha256', JSON.stringify(columns.slice(0, 3)), 'binary')",
    rows: ['of a stream is named by the check'], test: STREAM_DIGEST,
  },
  {
    file: 'projections/rebuild/unfinished-rebuild.ts',
    before: 'note.code === code && ',
    after: '',
    rows: ['a rebuild resumes after the death of its process'], test: REBUILD_RESUMED,
  },
  {
    file: 'projections/rebuild/unfinished-rebuild.ts',
    before: 'if (orThrow(await olderLogReason(store, reached)) === null) return {',
    after: 'return {',
    rows: ['a rebuild does not resume past the end of a shorter log'], test: REBUILD_RESUMED,
  },
  {
    file: 'projections/fold-log.ts',
    before: "  if (!done) throw new Error('the subscription ended', { cause: ENDED })\n",
    after: '',
    rows: ['a fold reports a subscription that ends before the target position'], test: REBUILD_RESUMED,
  },
  {
    file: 'projections/rebuild/rebuild-requests.ts',
    before: 'if (E.isLeft(outcome) && runner.hasStopped()) return',
    after: '',
    rows: ['a rebuild that failed because its lease was lost is repeated by the next holder'], test: REBUILD_REQUESTS,
  },
  {
    file: 'projections/rebuild/rebuild-requests.ts',
    before: 'if (last !== undefined && last.outcome === null) return last',
    after: '',
    rows: ['a second request for a running rebuild joins it'], test: REBUILD_REQUESTS,
  },
  {
    file: 'projections/rebuild/rebuild-requests.ts',
    before: '      ending.abort()\n      await writing\n',
    after: '',
    rows: ['a rebuild that throws is retried and leaves nothing running'], test: REBUILD_REQUESTS,
  },
  {
    file: 'interfaces/compose.ts',
    before: '    void readSide.projector.finishRebuilds()\n    const token',
    after: '    const token',
    rows: ['finishes a rebuild interrupted by SIGTERM'], test: REBUILD_INTERRUPTED,
  },
  {
    file: 'interfaces/cli/stores/restore.ts',
    before: '  requireSameServers(settings, manifest)\n',
    after: '',
    rows: ['with a log on EventStoreDB a backup holds keys and read models'], test: BACKUP_ON_SERVERS,
  },
]
