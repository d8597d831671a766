/**
 * Writes a data directory with the service of another checkout and stores it for `older-data.test.ts`:
 *
 *   git worktree add /tmp/older VERSION && (cd /tmp/older && npm ci)
 *   node test/support/older-data/make.ts /tmp/older test/nightly/servers/older-data/VERSION
 *
 * The data contains 1,000 sessions of two users and an administrator, profiles, API tokens, and a rebuild that SIGKILL
 * interrupted. Some sessions have text: kept, forgotten after a minute, or deleted.
 */
import assert from 'node:assert/strict'
import { fork, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { issueToken, revokeToken } from '../service/api-tokens.ts'
import { logIn, type Client, type Json, type LiveJson } from '../service/client.ts'
import { eventually } from '../tools/eventually.ts'
import { sampleSentences, silence } from '../audio/speech.ts'
import { packFiles } from './packed-files.ts'
import { ADA, BOB, LISTS, readLists, ROOT, TIMELESS_SETTINGS } from './lists.ts'

const SESSIONS = 1000
/** Sessions with text that each user has. */
const SESSIONS_WITH_TEXT = 3
/** Of every ten sessions five stay pending, three are finished, one is deleted, and one is finished and deleted. */
const FINISHED = new Set([5, 6, 7, 9])
const DELETED = new Set([8, 9])
/** Text without retention is deleted a minute after the end. */
const FORGOTTEN_WITHIN_MS = 180_000

const [checkout, output] = process.argv.slice(2)
if (checkout === undefined || output === undefined) throw new Error('usage: make.ts CHECKOUT OUTPUT')
const dataDirectory = await mkdtemp(join(tmpdir(), 'stenolog-older-'))
const env = {
  ...CHILD_ENVIRONMENT,
  ...TIMELESS_SETTINGS,
  STENOLOG_LOG_LEVEL: 'warn',
  STENOLOG_DATA_DIR: dataDirectory,
  STENOLOG_ADMIN_USERNAME: ROOT.username,
  STENOLOG_ADMIN_PASSWORD: ROOT.password,
}

const startOlder = async () => {
  const child = fork(join(resolve(checkout), 'interfaces', 'main.ts'), [], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env,
  })
  const exited = new Promise<void>((done) => child.once('exit', () => done()))
  const url = await new Promise<string>((listening, reject) => {
    void exited.then(() => reject(new Error('the older service did not start')))
    if (child.stdout)
      createInterface({ input: child.stdout }).on('line', (line) => {
        const [, found] = /listens on (http:\S+)/.exec(line) ?? []
        if (found !== undefined) listening(found)
      })
  })
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await exited
  }
  return { url, end }
}

const speak = async (client: Client, members: Json, text: Int16Array): Promise<LiveJson> => {
  const live = await client.createLive(members)
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  for (const samples of [text, silence(2)]) sender.sendAudio(samples)
  sender.send({ type: 'FINISH' })
  await sender.closed
  assert.ok(sender.frames.some(({ final }) => final === true), 'the session has a final')
  return live
}

const fill = async (url: string): Promise<void> => {
  const root = await logIn(url, ROOT.username, ROOT.password)
  for (const user of [ADA, BOB]) {
    const permissions = user === ADA ? (['user_retention'] as const) : []
    await root.api.call('createUser', { body: { ...user, max_sessions: SESSIONS, permissions } })
  }
  const [ada, bob] = [await logIn(url, ADA.username, ADA.password), await logIn(url, BOB.username, BOB.password)]
  const sentences = await sampleSentences()
  const spoken: Array<LiveJson> = []
  for (let n = 0; n < SESSIONS_WITH_TEXT; n++) {
    const samples = sentences[n]?.samples ?? silence(1)
    spoken.push(await speak(ada, { live_retention: true }, samples), await speak(bob, {}, samples))
  }
  // A session with retention whose deletion also deletes its text.
  const dropped = await speak(ada, { live_retention: true }, sentences[0]?.samples ?? silence(1))
  await ada.api.call('deleteLive', { path: { id: dropped.id } })

  for (const client of [ada, bob]) {
    for (let n = 0; n < 3; n++)
      await client.api.call('createProfile', { body: { name: `profile ${n}`, max_chars: 30 + n } })
    await issueToken(client, { name: 'stays' })
    await revokeToken(client, (await issueToken(client, { name: 'goes' })).id)
  }
  const rest = SESSIONS - spoken.length - 1
  const createSession = async (n: number): Promise<void> => {
    const client = n % 2 === 0 ? ada : bob
    const url = { audio_format: 'hls', audio_url: `http://media.test/${n}.m3u8` }
    const { id } = await client.createLive(n % 7 === 0 ? url : {})
    if (FINISHED.has(n % 10)) await client.api.call('finishLive', { path: { id } })
    if (DELETED.has(n % 10)) await client.api.call('deleteLive', { path: { id } })
  }
  for (let from = 0; from < rest; from += 20)
    await Promise.all(Array.from({ length: Math.min(20, rest - from) }, (_, n) => createSession(from + n)))

  await eventually(() => {
    const log = new DatabaseSync(join(dataDirectory, 'events.sqlite'), { readOnly: true })
    const withText = log.prepare(`SELECT count(DISTINCT sid) AS n FROM events JOIN streams USING (sid)
      WHERE name LIKE 'segments-%' AND data IS NOT NULL`).get()?.['n']
    log.close()
    assert.equal(withText, SESSIONS_WITH_TEXT, 'only text with retention is left')
  }, { timeoutMs: FORGOTTEN_WITHIN_MS })
}

/** The number of documents of an interrupted rebuild; null: no rebuild was interrupted. */
const rebuiltDocuments = (): number | null => {
  const database = new DatabaseSync(join(dataDirectory, 'documents.sqlite'), { readOnly: true })
  try {
    const tables = database.prepare("SELECT name FROM sqlite_master WHERE name = 'documents_lives-rebuild'").all()
    if (tables.length === 0) return null
    return Number(database.prepare('SELECT count(*) AS n FROM "documents_lives-rebuild"').get()?.['n'])
  } finally {
    database.close()
  }
}

/** A rebuild takes about 60 ms, so several attempts are needed to interrupt a rebuild. */
const ATTEMPTS = 20

/** Starts a rebuild of the list of sessions and kills the service before the new documents are in use. */
const interruptRebuild = async (service: { readonly kill: () => Promise<void> }): Promise<void> => {
  const cli = join(resolve(checkout), 'interfaces', 'cli', 'main.ts')
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const rebuild = spawn(process.execPath, [cli, 'rebuild', 'lives'], { stdio: 'ignore', env })
    const exited = new Promise<void>((done) => rebuild.once('close', () => done()))
    while (rebuild.exitCode === null && (rebuiltDocuments() ?? 0) === 0) await setImmediate()
    if (rebuild.exitCode !== null) continue
    await service.kill()
    await exited
    const documents = rebuiltDocuments()
    if (documents === null) throw new Error('the rebuild ended before the kill: run make.ts again')
    console.log(`the rebuild was interrupted after ${documents} documents`)
    return
  }
  throw new Error(`none of ${ATTEMPTS} rebuilds was interrupted: run make.ts again`)
}

try {
  let service = await startOlder()
  await fill(service.url)
  await service.end('SIGTERM')
  service = await startOlder()
  const lists = await readLists(service.url)
  await interruptRebuild({ kill: () => service.end('SIGKILL') })
  await writeFile(join(dataDirectory, LISTS), JSON.stringify(lists))
  const names = (await readdir(dataDirectory)).filter((name) => name !== 'control.sock' && !name.endsWith('-shm'))
  await rm(output, { recursive: true, force: true })
  await packFiles(dataDirectory, names, output)
} finally {
  await rm(dataDirectory, { recursive: true, force: true })
}
