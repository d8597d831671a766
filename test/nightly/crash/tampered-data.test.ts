import { cp } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { sealEvents } from '../../../application/log/event-serialization.ts'
import { loadMasterKey } from '../../../infrastructure/keys/master-key.ts'
import { readSettings } from '../../../infrastructure/settings/settings.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { SET_DIGEST, useStreamDigest } from '../../../infrastructure/sqlite/event-log/stream-digest.ts'
import { openSqliteKeyring } from '../../../infrastructure/sqlite/keyring/keyring.ts'
import { checkAll } from '../../../interfaces/cli/stores/check.ts'
import { createStatusLine } from '../../../interfaces/cli/status-line.ts'
import { assertUsable } from '../../support/service/damaged-data.ts'
import { prefixed, runTestService, startTestService } from '../../support/service/service.ts'
import { rightOf } from '../../support/tools/right.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Data of a stopped service: session 1 has ended and its text is forgotten, session 2 has ended and keeps its text. */
const original = runTestService()
test.after.always(async () => (await original).dispose())

const LATER_MS = 600_000

const textOf = (time: number): string => new Date(time).toISOString().replace('Z', '000+00:00')

/** The key of session 1, as the keyring stored it before the text was forgotten. */
let forgottenKey = new Uint8Array()

const keyOf = (directory: string, name: string): Uint8Array<ArrayBuffer> => {
  const database = new DatabaseSync(join(directory, 'keyring.sqlite'), { readOnly: true })
  const row = database.prepare('SELECT wrapped FROM keys WHERE name = ?').get(name)
  database.close()
  return row?.['wrapped'] as Uint8Array<ArrayBuffer>
}

const addTexts = async (directory: string): Promise<void> => {
  const masterKey = await loadMasterKey(join(directory, 'master.key'))
  const store = await openSqliteEventStore({ file: join(directory, 'events.sqlite') })
  const keyring = await openSqliteKeyring({ file: join(directory, 'keyring.sqlite'), masterKey })
  const metadata = (recordedAt: string) => ({ correlationId: 'c', causationId: 'c', actor: 'service', recordedAt })
  for (const liveId of [1, 2]) {
    const stream = `segments-${liveId}`
    const data = {
      liveId, segment: 1, start: 0, end: 1, text: 'hello', kind: 'transcription', language: 'en', words: [], term: 1,
      maxChars: 42,
    }
    const sealed = await rightOf(sealEvents(keyring, stream)([{ type: 'SegmentFinalised', data }]))
    const events = sealed.map((event) => ({ ...event, id: randomUUID(), metadata: metadata(textOf(Date.now())) }))
    await rightOf(store.append(stream, 'any', events))
  }
  forgottenKey = keyOf(directory, 'text-1')
  await rightOf(keyring.erase(['text-1']))
  await rightOf(store.deleteStream('segments-1'))
  // An event that proves that the service ran long after the end of session 1.
  const later = textOf(Date.now() + LATER_MS)
  await rightOf(store.append('seq-profile', 'any', [
    { id: randomUUID(), type: 'IdTaken', data: { at: later }, metadata: metadata(later) },
  ]))
  await keyring.close()
  await store.close()
}

test.before(async () => {
  const service = await original
  const ada = await service.user('ada', { permissions: ['user_retention'] })
  for (const members of [{}, { live_retention: true, listener_token: 'a-listener-token-of-ada' }]) {
    const { id } = await ada.createLive(members)
    await ada.put(`/lives/${id}/finish`)
  }
  await service.kill('SIGTERM')
  await addTexts(service.dataDirectory)
})

type FileName = 'events' | 'documents' | 'keyring'
type Change = string | ((database: DatabaseSync) => void)

const change = (directory: string, file: FileName, how: Change): void => {
  const database = new DatabaseSync(join(directory, `${file}.sqlite`))
  useStreamDigest(database)
  if (typeof how === 'string') database.exec(how)
  else how(database)
  database.close()
}

const problemsAfter = async (file: FileName, how: Change): Promise<ReadonlyArray<string>> => {
  const { path, remove } = await temporaryDirectory()
  try {
    await cp((await original).dataDirectory, path, { recursive: true })
    change(path, file, how)
    const settings = readSettings(prefixed({ DATA_DIR: path }))
    if (E.isLeft(settings)) throw new Error(settings.left.join())
    const checks = await checkAll(settings.right, createStatusLine())
    return checks.flatMap(({ name, problems }) => problems.map(({ where, problem }) =>
      `${name}: ${where.startsWith(path) ? `${file}.sqlite` : where}: ${problem}`))
  } finally {
    await remove()
  }
}

const END = '99999999999999999999'
const NEWER_KEY = 'belongs to an id that the log has not given out. The keyring is newer than the log'

/** What somebody changes, and the problem that `check` must name. */
const CHANGES: ReadonlyArray<readonly [title: string, file: FileName, how: Change, problem: string]> = [
  [
    'the key of a forgotten text returns', 'keyring',
    (database) => {
      database.prepare("INSERT INTO keys(name, wrapped) VALUES ('text-1', ?)").run(forgottenKey)
      database.exec("DELETE FROM erased WHERE name = 'text-1'")
    },
    'erasure: key text-1: still exists although the text of session 1 had to be forgotten',
  ],
  [
    'a removed entry of a coming session', 'documents',
    `INSERT INTO "documents_lives" VALUES ('99', '${END}', NULL)`,
    `read models: lives 99: has the position ${END}, after the end of the log`,
  ],
  [
    'a removed token of a coming session', 'documents',
    `INSERT INTO "documents_live-tokens" VALUES ('99-sender', '${END}', NULL)`,
    `read models: live-tokens 99-sender: has the position ${END}, after the end of the log`,
  ],
  [
    'an entry that ignores its coming changes', 'documents',
    `UPDATE "documents_lives" SET position = '${END}', body = json_set(body, '$.position', '${END}') WHERE id = '2'`,
    `read models: lives 2: has the position ${END}, after the end of the log`,
  ],
  [
    'the checkpoint of a duty behind the coming events', 'documents',
    `INSERT OR REPLACE INTO checkpoints(projection, position) VALUES ('forget-text', '${END}')`,
    `read models: checkpoint of forget-text: has the position ${END}, after the end of the log`,
  ],
  [
    'a raised token of a lease', 'documents', `UPDATE checkpoints SET token = 7 WHERE projection = 'lives'`,
    'read models: checkpoint of lives: has the token 7, which no lease has given out',
  ],
  [
    'a foreign collection', 'documents', 'CREATE TABLE documents_evil(id TEXT)',
    'files: documents.sqlite: contains the table documents_evil, which the service did not create',
  ],
  [
    'a foreign view', 'documents', 'CREATE VIEW all_lives AS SELECT * FROM "documents_lives"',
    'files: documents.sqlite: contains the view all_lives, which the service did not create',
  ],
  [
    'a foreign unique index', 'documents', `CREATE UNIQUE INDEX one ON "documents_lives"(body)`,
    'files: documents.sqlite: contains the index one, which the service did not create',
  ],
  [
    'a trigger in the log', 'events', 'CREATE TRIGGER extra AFTER INSERT ON events BEGIN DELETE FROM events; END',
    'files: events.sqlite: contains the trigger extra, which the service did not create',
  ],
  [
    'a trigger in the keyring', 'keyring', 'CREATE TRIGGER extra AFTER DELETE ON keys BEGIN SELECT 1; END',
    'files: keyring.sqlite: contains the trigger extra, which the service did not create',
  ],
  [
    'a coming session in the list of erased keys', 'keyring', `INSERT INTO erased VALUES ('live-99', 0)`,
    `erasure: key live-99: ${NEWER_KEY}`,
  ],
  [
    'a coming user in the list of erased keys', 'keyring', `INSERT INTO erased VALUES ('user-99', 0)`,
    `erasure: key user-99: ${NEWER_KEY}`,
  ],
  [
    'the mark of the stream digests moved', 'events', 'UPDATE coverage SET since = 5',
    'stream digests cannot begin at position 5',
  ],
  [
    'the mark of the stream digests removed', 'events', 'DELETE FROM coverage',
    'the mark of the position at which stream digests begin is missing',
  ],
  [
    'a kept transcript removed', 'events',
    `UPDATE streams SET first = last + 1, base = last + 1 WHERE name = 'segments-2'; ${SET_DIGEST}`,
    'order: segments-2: was removed although the key text-2 was not erased',
  ],
  [
    'the claim of a listener token expired', 'events',
    `UPDATE streams SET max_age_ms = 1, oldest_at = 0 WHERE name LIKE 'listener-token-%'; ${SET_DIGEST}`,
    'hides events, which the service never does in this stream',
  ],
  [
    'the last rows of the log removed', 'events',
    (database) => {
      const last = database.prepare(`
        SELECT pos, sid FROM events WHERE pos > (SELECT max(pos) FROM events WHERE type = 'LiveFinished') - 1
        ORDER BY pos DESC
      `).all()
      for (const { pos, sid } of last) {
        database.prepare('DELETE FROM events WHERE pos = ?').run(Number(pos))
        database.prepare('UPDATE streams SET last = last - 1 WHERE sid = ?').run(Number(sid))
      }
      database.exec(`UPDATE sqlite_sequence SET seq = (SELECT max(pos) FROM events) WHERE name = 'events'`)
    },
    'after the end of the log',
  ],
]

test('the data that the changes start from has no problem', async (t) => {
  t.deepEqual(await problemsAfter('events', ''), [])
})

for (const [title, file, how, expected] of CHANGES)
  test(`check names a change of the data: ${title}`, async (t) => {
    const problems = await problemsAfter(file, how)
    t.true(problems.some((problem) => problem.includes(expected)), problems.join('\n'))
  })

/** Changes that `check` does not name, because the next start or the next change repairs them. */
const HARMLESS: ReadonlyArray<readonly [title: string, file: FileName, how: Change]> = [
  ['an index of the log removed', 'events', 'DROP INDEX streams_to_purge; DROP INDEX streams_to_expire'],
  ['a further index of the log', 'events', 'CREATE INDEX by_type ON events(type)'],
  ['statistics of SQLite in the log', 'events', 'ANALYZE'],
  ['a checkpoint set back', 'documents', `UPDATE checkpoints SET position = '', last = NULL`],
  ['the indexes of a collection removed', 'documents', 'DROP INDEX by_lives_id; DROP INDEX by_lives_userId_id'],
  ['a false report of progress', 'documents', `UPDATE checkpoints SET told = '{"passed":"${END}","beat":1}'`],
]

for (const [title, file, how] of HARMLESS)
  test(`a change of the data does no harm: ${title}`, async (t) => {
    t.deepEqual(await problemsAfter(file, how), [])
    const service = await startTestService(t, {}, (await original).dataDirectory)
    change(service.dataDirectory, file, how)
    await service.start()
    const ada = await service.logIn('ada')
    await assertUsable(t, ada)
    t.is((await ada.get('/lives/2/transcript')).status, 200)
    t.is((await ada.request('DELETE', '/lives/1')).status, 200)
  })
