import { UNKNOWN_LOST_IDS } from '../../compose/restoring/lost-ids.ts'
import { type Command, SESSION, WHOLE_NUMBER } from './command.ts'

const DIRECTORY = 'the folder of a backup'

export const REPLAY = {
  name: 'replay',
  purpose: 'show the history of a session, and its state at any revision',
  about: [
    'A revision is the number of an event in the history of the session. The first event has the revision 0.',
    'Reads only the event log. The service may run or be stopped. Tokens are left out.',
  ],
  forms: [{ words: 'SESSION', options: ['at', 'json'] }],
  arguments: SESSION,
  options: {
    at: { value: 'REVISION', meaning: 'stops after the event with this revision', rule: WHOLE_NUMBER },
    json: {
      meaning: 'prints {live, revision, events, state, lost} as JSON; the member "lost" contains the revisions of '
        + 'events that cannot be read',
    },
  },
  examples: ['replay 7', 'replay 7 --at 3 --json'],
  page: 'docs/guides/audit-a-session.md',
} as const satisfies Command

export const EXPORT = {
  name: 'export',
  purpose: 'print all stored data of a session, decrypted, as JSON',
  about: [
    'Prints one object without tokens: {live, events, segments, lost}. The member "segments" contains the final '
      + 'segments and their translations, unless they were erased. The member "lost" contains the damaged events, '
      + 'which cannot be read.',
    'Reads only the event log. The service may run or be stopped.',
  ],
  forms: [{ words: 'SESSION', options: ['json'] }],
  arguments: SESSION,
  options: { json: { meaning: 'has no effect: the output is always JSON' } },
  examples: ['export 7', 'export 12 --json'],
  page: 'docs/guides/audit-a-session.md',
} as const satisfies Command

export const CHECK = {
  name: 'check',
  purpose: 'verify all stored data and change nothing',
  about: [
    'The service may run or be stopped. Exit code 0: check found no problem. Exit code 1: it found problems, and '
      + 'printed each problem with its place. After a damaged row, check continues and lists the data that it could '
      + 'not check.',
    'These are the checks:',
    'files: pages and indexes of the embedded databases are intact.',
    'hash chain: every row of the log is as it was written. This finds accidental damage and careless edits. It '
      + 'cannot find an edit whose author recomputed all hashes. EventStoreDB has no hash chain.',
    'keys: the master key opens every key.',
    'decoding: this version can read every event.',
    'order: no event violates the rules of its stream.',
    'reservations: no memory is reserved for ended sessions.',
    'erasure: deleted users and sessions have no keys.',
    'read models: every document of the lists (read models) agrees with the log.',
  ],
  forms: [{ words: '', options: ['json'] }],
  arguments: {},
  options: { json: { meaning: 'prints {ok, checks: [{name, seen, problems}]} as JSON' } },
  examples: ['check', 'check --json'],
  page: 'docs/operate/check-and-repair.md',
} as const satisfies Command

export const REBUILD = {
  name: 'rebuild',
  purpose: 'rebuild read models from the event log, without downtime',
  about: [
    'A read model is a list that the service builds from the event log, such as the list of sessions. An entry of the '
      + 'list is a document. The new documents are built next to the old ones and replace them when they are complete.',
    'If the service runs, it does this work; otherwise this command does it. The next start of the service, or this '
      + 'command, continues an interrupted rebuild.',
    'The output shows how many old documents did not agree with the log; the rebuild has corrected them.',
  ],
  forms: [{ words: '[READ_MODEL]', options: ['json'] }],
  arguments: { READ_MODEL: { meaning: 'the name of a read model, such as lives or users; default: all' } },
  options: { json: { meaning: 'prints one line of JSON for each read model' } },
  examples: ['rebuild', 'rebuild lives --json'],
  page: 'docs/operate/check-and-repair.md',
} as const satisfies Command

export const BACKUP = {
  name: 'backup',
  purpose: 'copy the embedded databases, without downtime',
  about: [
    'The copies are consistent. The log holds everything that the lists (read models) show, and the store of keys '
      + '(keyring) holds every key that the log needs. backup checks the copied log. If the log is damaged, backup '
      + 'still copies it, and the exit code is 1.',
    'A master key in the data directory is copied too, so keep DIR as safe as the service. A master key at '
      + 'STENOLOG_MASTER_KEY_FILE is never copied.',
    'If EventStoreDB or MongoDB holds some of the data, copy that server with its own tools. Copy the log before the '
      + 'keys, so that every copied event has its key.',
  ],
  forms: [{ words: 'DIR', options: ['without-key'] }],
  arguments: { DIR: { meaning: `${DIRECTORY}, new or empty` } },
  options: {
    'without-key': { meaning: 'leaves out the master key; keep a copy elsewhere: the backup is useless without it' },
  },
  examples: ['backup /srv/backup', 'backup ./backup --without-key'],
  page: 'docs/operate/backup-and-restore.md',
} as const satisfies Command

/** Options of the commands that make an older log the log of the service. */
const RESTORING = {
  'lost-ids': {
    value: 'N',
    meaning: 'the ids of each kind to skip if the log of the time after the backup is gone. 0: nothing was lost, so '
      + 'API tokens stay switched on',
    fallback: String(UNKNOWN_LOST_IDS),
    rule: WHOLE_NUMBER,
  },
  'skip-unreadable': {
    meaning: 'goes on if the data to replace cannot be read completely. Users and texts that were deleted after the '
      + 'backup may come back, and disabled users may log in again',
  },
} as const

export const RESTORE = {
  name: 'restore',
  purpose: 'restore a backup into the data directory',
  about: [
    'Stop the service first. restore checks the backup before it changes anything. It refuses a backup that is '
      + 'incomplete, damaged, made by a newer version or made with another master key.',
    'What happened after the backup is lost, but not undone: deleted sessions and users do not come back, revoked API '
      + 'tokens and disabled users stay so, and passwords stay changed. restore finds this in the data that it '
      + 'replaces. No id is given out twice, and all users must log in again.',
    'Where the data to replace is gone, restore skips many ids and switches all API tokens off. Where it cannot be '
      + 'read, restore refuses.',
    'If EventStoreDB or MongoDB holds some of the data, restore that server with its own tools first.',
  ],
  forms: [{ words: '[DIR]', options: ['replace', 'in-place', 'lost-ids', 'skip-unreadable', 'check'] }],
  arguments: { DIR: { meaning: DIRECTORY } },
  options: {
    check: {
      meaning: 'without DIR: changes nothing, and says whether the log and the keys of the settings fit together after '
        + 'servers were restored. Exit code 1: they do not',
    },
    'in-place': {
      meaning: 'without DIR: records a restore in the embedded log as it lies, after files were put back by other '
        + 'means. The log that they replaced counts as gone',
    },
    replace: { meaning: 'deletes the present databases of the data directory' },
    ...RESTORING,
  },
  examples: ['restore /srv/backup --replace', 'restore --in-place'],
  page: 'docs/operate/backup-and-restore.md',
} as const satisfies Command

export const LOG = {
  name: 'log',
  purpose: 'take over an event log in EventStoreDB',
  about: [
    'An event log in EventStoreDB belongs to one owner: a data directory or a MongoDB. A service with another data '
      + 'directory or MongoDB refuses to start, because the service of the owner may still run.',
    'take-over changes the owner of the log at STENOLOG_EVENTSTORE_URL. The new owner is STENOLOG_MONGO_URL, or '
      + 'STENOLOG_DATA_DIR if STENOLOG_MONGO_URL is not set. Use take-over only when the former owner is lost, and '
      + 'stop the former service first.',
    'take-over expects that the log is an older copy. So it skips ids, ends all logins, switches API tokens off, and '
      + 'deletes again what the keyring says was erased. If the log was not restored, add --lost-ids 0.',
    'take-over copies no keys. Use the master key (STENOLOG_MASTER_KEY_FILE) and the keyring with which the log was '
      + 'written.',
  ],
  forms: [{ words: 'take-over', options: ['lost-ids', 'skip-unreadable'] }],
  arguments: {},
  options: RESTORING,
  examples: ['log take-over', 'log take-over --lost-ids 0'],
  page: 'docs/operate/servers.md',
} as const satisfies Command
