import { ID, WHOLE_NUMBER } from './command.ts'
import type { Command } from './command.ts'

const LIVE = { LIVE: { meaning: 'the id of a session', fits: ID } } as const
const DIRECTORY = 'the folder of a backup'
export const REPLAY = {
  name: 'replay',
  purpose: 'show the history of a session, and its state at any revision',
  about: ['Reads the log alone, beside a running service or without one. Tokens are left out.'],
  forms: [{ words: 'LIVE', options: ['at', 'json'] }],
  arguments: LIVE,
  options: {
    at: { value: 'REVISION', meaning: 'only up to this revision, counted from 0', fits: WHOLE_NUMBER },
    json: { meaning: 'prints {live, revision, events, state, lost} as JSON; lost: revisions that cannot be read' },
  },
  examples: ['replay 7', 'replay 7 --at 3 --json'],
  page: 'docs/guides/audit-a-session.md',
} as const satisfies Command

export const EXPORT = {
  name: 'export',
  purpose: 'print everything that is kept of a session, in clear, as JSON',
  about: [
    'One object: {live, events, segments, lost}, without tokens. segments are the final lines and their translations, as long as '
      + 'they are kept; lost is what cannot be read because it was damaged. Reads the log alone, beside a running service or without one.',
  ],
  forms: [{ words: 'LIVE', options: ['json'] }],
  arguments: LIVE,
  options: { json: { meaning: 'changes nothing: the answer is always JSON' } },
  examples: ['export 7', 'export 12 --json'],
  page: 'docs/guides/audit-a-session.md',
} as const satisfies Command

export const CHECK = {
  name: 'check',
  purpose: 'verify all stored data and change nothing',
  about: [
    'Runs beside a running service or without one. Exit code 0: all is well; 1: something is wrong, and its place is named. It goes on '
      + 'behind damaged rows, and says which checks cannot judge without them.',
    'Files: pages and indexes of the embedded databases. Hash chain: every row of the log is what was written; this shows accidental '
      + 'damage and careless edits, not somebody who computes all hashes anew (EventStoreDB keeps none). Keys: each opens with the master key. '
      + 'Decoding: this version knows every event. Order: no event stands where the rules forbid it. Reservations: no memory is held for '
      + 'ended sessions. Erasure: no key is left of deleted users and sessions. Read models: every document is what the log says.',
  ],
  forms: [{ words: '', options: ['json'] }],
  arguments: {},
  options: { json: { meaning: 'prints {ok, checks: [{name, seen, problems}]} as JSON' } },
  examples: ['check', 'check --json'],
  page: 'docs/operate/check-and-repair.md',
} as const satisfies Command

export const REBUILD = {
  name: 'rebuild',
  purpose: 'make read models anew from the log, while the service serves',
  about: [
    'The new documents grow beside those in use and take their place once they have caught up. A running service does it itself; '
      + 'without one this process does. A rebuild that was interrupted is continued by the next start of the service or by this command.',
    '"corrected" counts the documents that were not what the log says.',
  ],
  forms: [{ words: '[PROJECTION]', options: ['json'] }],
  arguments: { PROJECTION: { meaning: 'a read model, such as lives or users; without it all of them' } },
  options: { json: { meaning: 'one line of JSON a read model' } },
  examples: ['rebuild', 'rebuild lives --json'],
  page: 'docs/operate/check-and-repair.md',
} as const satisfies Command

export const BACKUP = {
  name: 'backup',
  purpose: 'copy the embedded stores, while the service serves',
  about: [
    'The copies fit together: the log holds all that the read models show, the keyring all keys that the log needs. The copied log '
      + 'is checked; a damaged one is copied too, with exit code 1.',
    'A master key in the data directory is copied as well, so keep DIR as safe as the service. One that STENOLOG_MASTER_KEY_FILE names is '
      + 'never copied. What lies on EventStoreDB or MongoDB is copied with their own tools: the log before the keys, so that no event '
      + 'is without its key.',
  ],
  forms: [{ words: 'DIR', options: ['without-key'] }],
  arguments: { DIR: { meaning: `${DIRECTORY}, new or empty` } },
  options: { 'without-key': { meaning: 'leaves the master key out: without it the backup is of no use, so keep it elsewhere' } },
  examples: ['backup /srv/backup', 'backup ./backup --without-key'],
  page: 'docs/operate/backup-and-restore.md',
} as const satisfies Command

export const RESTORE = {
  name: 'restore',
  purpose: 'put a backup in place as the stores of the data directory',
  about: [
    'Stop the service first. The backup is checked before anything changes: one that is incomplete, was changed, is of a newer version or '
      + 'does not fit the master key is refused.',
    'Keys that were erased since the backup are erased from it too, and the next start deletes those sessions and users again. What lies '
      + 'on EventStoreDB or MongoDB is restored with their own tools, before the service starts.',
  ],
  forms: [{ words: 'DIR', options: ['replace'] }],
  arguments: { DIR: { meaning: DIRECTORY } },
  options: { replace: { meaning: 'deletes the stores that are there now' } },
  examples: ['restore /srv/backup', 'restore /srv/backup --replace'],
  page: 'docs/operate/backup-and-restore.md',
} as const satisfies Command

export const LOG = {
  name: 'log',
  purpose: 'give a log in EventStoreDB to this data directory',
  about: [
    'A log belongs to the data directory, or to the MongoDB, whose service started on it last; the service of another one is refused, '
      + 'because it cannot know whether the first still runs. Use this where the first is gone for good, and stop its service first.',
    'Keys are not taken over: STENOLOG_MASTER_KEY_FILE and the keyring must be those of the log.',
  ],
  forms: [{ words: 'take-over', options: [] }],
  arguments: {},
  options: {},
  examples: ['log take-over', 'log --help'],
  page: 'docs/operate/servers.md',
} as const satisfies Command
