import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { EventStoreDBClient } from '@eventstore/db-client'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import {
  ADMISSION_STREAM, Admitted, CapacitySet, Moved, Released, WorkerDraining, WorkerJoined, WorkerLeft,
} from '../../domain/admission/events.ts'
import { evolve, initialState, reservedVram } from '../../domain/admission/state.ts'
import type { AdmissionState } from '../../domain/admission/state.ts'
import { reading } from '../../domain/read-event.ts'
import { FORMAT } from '../../infrastructure/stores/format.ts'
import { issueToken, withKey } from '../support/api-tokens.ts'
import { withFfmpeg } from '../support/audio-server.ts'
import { EVENTSTORE_FOLDER } from '../support/chosen-stores.ts'
import { createClient, logIn } from '../support/client.ts'
import type { Client, Json, Listing, LiveJson } from '../support/client.ts'
import { stenolog } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { startEventStoreDb } from '../support/eventstoredb.ts'
import { launch } from '../support/launch.ts'
import type { Launched } from '../support/launch.ts'
import { startMongoDouble } from '../support/mongodb-double/process.ts'
import { ADA, asRecorded, BOB, readLists, ROOT, TIMELESS_SETTINGS } from '../support/older-data/lists.ts'
import type { Lists } from '../support/older-data/lists.ts'
import { create, isFinal, openSessions, openSources, speak, starts } from '../support/older-data/open-sessions.ts'
import type { OpenSession, Sources } from '../support/older-data/open-sessions.ts'
import { right } from '../support/projecting.ts'
import { prefixed } from '../support/service.ts'
import { openLogOf } from '../support/stores.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Of 1f99de3, with what it depends on. */
const OLDER = process.env['STENOLOG_TEST_OLDER_CHECKOUT']
const withOlder = OLDER === undefined ? test.skip : withFfmpeg
const withOlderAndServer = EVENTSTORE_FOLDER === undefined ? test.skip : withOlder

type Settings = Readonly<Record<string, string>>

const folder = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

/** A data directory, and the servers beside it. */
interface Data {
  readonly dataDirectory: string
  /** Without their prefix; none where all is embedded. */
  readonly stores: Settings
}

/** What a service is started with: a lost sender is waited for, and what the tests serve may be pulled. */
const settingsFor = ({ dataDirectory, stores }: Data): Settings => ({
  ...TIMELESS_SETTINGS,
  ...prefixed({ DATA_DIR: dataDirectory, AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32', RECONNECT_GRACE: '10m', ...stores }),
})

const startOlder = (t: ExecutionContext, data: Data): Launched => launch(t, settingsFor(data), [], OLDER)

/** `more`: with their prefix. */
const startToday = (t: ExecutionContext, data: Data, more: Settings = {}): Launched =>
  launch(t, { ...settingsFor(data), ...more })

const checkIsClean = async (t: ExecutionContext, { dataDirectory, stores }: Data, when: string): Promise<void> => {
  const { code, stdout, stderr } = await stenolog(dataDirectory, ['check'], stores)
  t.is(code, 0, `${when}:\n${stdout}${stderr}`)
}

/** The older version ends at once, with its sentence about the store that it meets first. */
const refusesOlder = async (t: ExecutionContext, data: Data, store: string): Promise<void> => {
  const older = startOlder(t, data)
  t.is(await older.exited, 1, older.stdout())
  const told = new RegExp(
    `stenolog cannot start: ${store} was written by a newer version of Stenolog ` +
      `\\(format ${FORMAT}, this version knows 1\\): use that version, or restore a backup of this one\n$`,
  )
  t.regex(older.stderr(), told)
  t.is(older.stdout(), '')
}

/** The log in a directory of its own, so that nothing else keeps an older version from it. */
const logAlone = async (t: ExecutionContext, { dataDirectory, stores }: Data): Promise<Data> => {
  const alone = await folder(t)
  for (const name of await readdir(dataDirectory))
    if (name === 'master.key' || name.startsWith('events.sqlite')) await copyFile(join(dataDirectory, name), join(alone, name))
  return { dataDirectory: alone, stores }
}

const vramOf = (lives: ReadonlyArray<Json>): number =>
  lives.filter(({ status }) => status === 'pending' || status === 'active').reduce((sum, { vram }) => sum + Number(vram), 0)

/** What is reserved is what the open sessions need, and nothing else. */
const vramIsExact = async (t: ExecutionContext, url: string, when: string): Promise<number> => {
  const root = await logIn(url, ROOT.username, ROOT.password)
  const { data } = (await root.get<Listing<Json>>('/admin/lives?limit=1000')).body
  const metrics = (await root.get<string>('/metrics')).body
  const reserved = Number(/^stenolog_vram_reserved_megabytes (\d+)$/m.exec(metrics)?.[1])
  t.is(reserved, vramOf(data), when)
  return reserved
}

const statusIn = (lists: Lists, { id }: LiveJson): unknown =>
  lists['root /admin/lives']?.find((live) => live['id'] === id)?.['status']

const setUpTokenOf = (service: Launched): Promise<string> =>
  eventually(() => {
    const [, token] = /\/setup#token=(\S+)/.exec(service.stdout()) ?? []
    if (token === undefined) throw new Error('no set-up link')
    return token
  })

const OWNERS = [ADA, BOB]
const KEPT = { live_retention: true }

/** What was made with the older version, and what it told of that just before it was killed. */
interface Before {
  readonly sessions: ReadonlyArray<OpenSession>
  readonly lists: Lists
  readonly setUpToken: string
  readonly apiToken: string
  readonly clients: ReadonlyArray<Client>
}

/** Three administrators, two of them with ten open sessions each, in the middle of which the service is killed. */
const fillAndKill = async (t: ExecutionContext, data: Data, sources: Sources): Promise<Before> => {
  const older = startOlder(t, data)
  const url = await older.url()
  const setUpToken = await setUpTokenOf(older)
  t.is((await createClient(url).post('/setup', { ...ROOT, token: setUpToken })).status, 200)
  const root = await logIn(url, ROOT.username, ROOT.password)
  for (const owner of OWNERS)
    await root.api.call('createUser', { body: { ...owner, max_sessions: 100, permissions: ['admin', 'user_retention'] } })
  const clients = await Promise.all(OWNERS.map(({ username, password }) => logIn(url, username, password)))
  for (const client of clients) {
    await client.api.call('createProfile', { body: { name: 'narrow', max_chars: 30 } })
    await client.api.call('finishLive', { path: { id: (await client.createLive(KEPT)).id } })
  }
  const [ada] = clients as [Client]
  const { token: apiToken } = await issueToken(ada)
  const sessions = await openSessions(clients, sources)
  const lists = await readLists(url)
  for (const { live, name, becomes } of sessions)
    t.is(statusIn(lists, live), becomes === 'pending' ? 'pending' : 'active', name)
  t.is(vramOf(lists['root /admin/lives'] ?? []), await vramIsExact(t, url, 'before the kill'))
  for (const { sender, listener } of sessions) if (sender && listener) speak(sender, sources.speech)
  older.kill('SIGKILL')
  t.is(await older.exited, null)
  return { sessions, lists, setUpToken, apiToken, clients }
}

/** Of what runs, and of no event. */
const MEASURED = ['lag']
/** Of a session that a restart ends or pulls anew. */
const CHANGED = [...MEASURED, 'status', 'vram', 'auto_start_pid', 'updated_at']

const without = (item: Json, names: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.includes(name)))

/** As much of each list as there was of it before, all the way down. */
const upTo = (before: unknown, told: unknown): unknown => {
  if (Array.isArray(before) && Array.isArray(told))
    return told.slice(0, before.length).map((item: unknown, index) => upTo(before[index], item))
  if (typeof before !== 'object' || before === null || typeof told !== 'object' || told === null) return told
  const was = before as Json
  return Object.fromEntries(Object.entries(told).map(([name, value]) => [name, upTo(was[name], value)]))
}

/** What was told before the kill is told again, but for what D53 changes; behind it may stand more. */
const listsAreEqual = (t: ExecutionContext, { sessions, lists }: Before, now: Lists): void => {
  const changed = new Set(sessions.filter(({ becomes }) => becomes !== 'pending').map(({ live }) => live.id))
  for (const [name, before] of Object.entries(lists)) {
    const told = asRecorded(before, now[name]) as ReadonlyArray<Json>
    const isOfLives = /\/lives\/?$/.test(name)
    const due = (items: ReadonlyArray<Json>): ReadonlyArray<Json> =>
      items.map((item) => without(item, !isOfLives ? [] : changed.has(Number(item['id'])) ? CHANGED : MEASURED))
    if (!/ (histories|transcripts)$/.test(name)) t.deepEqual(due(told), due(before), name)
    else t.deepEqual(upTo(before, told), before, name)
  }
}

const everyOne = async (root: Client): Promise<ReadonlyArray<Json>> =>
  (await root.get<Listing<Json>>('/admin/lives?limit=1000')).body.data

/** What goes on can be used as if nothing had happened. */
const sessionsGoOn = async (t: ExecutionContext, url: string, { sessions }: Before, sources: Sources): Promise<void> => {
  const [root, ...clients] = await Promise.all([ROOT, ...OWNERS].map((one) => logIn(url, one.username, one.password)))
  assert.ok(root !== undefined)
  const clientOf = (session: OpenSession): Client => clients[sessions.indexOf(session) % clients.length] ?? root

  sources.back()
  const due = (becomes: OpenSession['becomes']): ReadonlyArray<OpenSession> =>
    sessions.filter((session) => session.becomes === becomes)
  for (const session of due('active')) {
    const { live, name, listener } = session
    const last = listener?.frames.findLast(isFinal)
    const heir = await clientOf(session).socket(live, 'listener')
    const next = await heir.frame(isFinal)
    t.true(Number(next['segment']) > Number(last?.['segment'] ?? 0), name)
    t.true(Number(next['start']) >= Number(last?.['end'] ?? 0), name)
  }
  for (const session of due('pending')) {
    const { live, asks } = session
    const client = clientOf(session)
    const sender = await starts(client, live)
    if (asks(sources)['audio_url'] === undefined) {
      speak(sender, sources.speech)
      await sender.frame(isFinal)
    }
    sender.send({ type: 'FINISH' })
    t.is((await sender.closed).code, 1000, session.name)
    await client.untilStatus(live, 'finished')
  }
  for (const session of due('error')) await clientOf(session).untilStatus(session.live, 'error')
}

/** A create that is repeated by its key makes nothing: it is answered as it was. */
const keysAreKnown = async (t: ExecutionContext, url: string, { sessions }: Before, sources: Sources): Promise<void> => {
  const root = await logIn(url, ROOT.username, ROOT.password)
  const clients = await Promise.all(OWNERS.map(({ username, password }) => logIn(url, username, password)))
  const count = (await everyOne(root)).length
  const keyed = sessions.filter(({ key }) => key !== undefined)
  t.is(keyed.length, 3)
  for (const session of keyed) {
    const client = clients[sessions.indexOf(session) % clients.length] ?? root
    t.deepEqual(asRecorded(session.live, await create(client, session, sources)), session.live, session.name)
  }
  t.is((await everyOne(root)).length, count)
}

/** All three administer; what they logged in with before holds; nobody is asked to set the service up. */
const administratorsAreKnown = async (
  t: ExecutionContext, today: Launched, { clients, apiToken, setUpToken }: Before,
): Promise<void> => {
  const url = await today.url()
  for (const { username, password } of [ROOT, ADA, BOB]) {
    const { body } = await (await logIn(url, username, password)).get<Listing<Json>>('/users/')
    t.deepEqual(body.data.map((user) => user['username']), [ROOT, ADA, BOB].map((one) => one.username))
  }
  for (const { token } of clients) t.is((await createClient(url, token).get('/users/')).status, 200)
  t.is((await withKey(url, apiToken, '/lives/')).status, 200)
  t.notRegex(today.stdout(), /setup/)
  t.notRegex((await createClient(url).get<string>('/setup')).body, /<form/)
  const again = { username: 'eve', password: 'eve has a password', token: setUpToken }
  t.is((await createClient(url).post('/setup', again)).status, 403)
}

const admissionOf = reading([CapacitySet, WorkerJoined, WorkerDraining, WorkerLeft, Admitted, Moved, Released])

/** Who runs what by the log. */
const admissionIn = async (data: Data): Promise<AdmissionState> => {
  const log = await openLogOf(data)
  const stored = right(await log.read(ADMISSION_STREAM)())
  await log.close()
  return stored.flatMap((event) => admissionOf(event) ?? []).reduce(evolve, initialState)
}

interface Upgrade {
  readonly data: Data
  readonly sources: Sources
  readonly before: Before
}

/** Starts today's version on what was left, holds it to everything, and stops it; the log says whose each session is. */
const goesOn = async (t: ExecutionContext, { data, sources, before }: Upgrade): Promise<AdmissionState> => {
  const today = startToday(t, data)
  const url = await today.url()
  await eventually(async () => t.is((await fetch(`${url}/health/ready`)).status, 200))
  const lists = await readLists(url)
  listsAreEqual(t, before, lists)
  for (const { live, name, becomes } of before.sessions)
    t.is(statusIn(lists, live), becomes === 'error' ? 'active' : becomes, name)
  const reserved = await vramIsExact(t, url, 'after the start')
  t.is(reserved, vramOf(before.sessions.filter(({ becomes }) => becomes !== 'finished').map(({ live }) => live)))
  await administratorsAreKnown(t, today, before)
  await keysAreKnown(t, url, before, sources)
  await sessionsGoOn(t, url, before, sources)
  const left = before.sessions.filter(({ becomes }) => becomes === 'active').map(({ live }) => live)
  t.is(await vramIsExact(t, url, 'at the end'), vramOf(left))
  await checkIsClean(t, data, 'beside the running service')
  today.kill('SIGKILL')
  t.is(await today.exited, null)
  const admission = await admissionIn(data)
  t.is(reservedVram(admission), vramOf(left))
  t.deepEqual(admission.open.map(({ liveId }) => liveId).toSorted((a, b) => a - b), left.map(({ id }) => id))
  await checkIsClean(t, data, 'afterwards')
  return admission
}

const eventsIn = (file: string): number => {
  const log = new DatabaseSync(file, { readOnly: true })
  const { count } = log.prepare('SELECT count(*) AS count FROM events').get() as { readonly count: number }
  log.close()
  return count
}

/** Ends a process with its first append to the log behind so many events, as a `kill -9` would. */
const dyingBehind = (events: number): string => `
  import { DatabaseSync } from 'node:sqlite'
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    exec.call(this, sql)
    if (sql !== 'COMMIT' || !this.location().endsWith('events.sqlite')) return
    if (this.prepare('SELECT count(*) AS count FROM events').get().count > ${events}) process.kill(process.pid, 'SIGKILL')
  }`

withOlder('D53, R104: embedded stores of an older version, killed with sessions of every kind, are taken over; after the first new event it refuses them', async (t) => {
  t.timeout(600_000)
  const data = { dataDirectory: await folder(t), stores: {} }
  const sources = await openSources(t)
  const before = await fillAndKill(t, data, sources)
  await checkIsClean(t, data, 'as the older version left it')

  const events = eventsIn(join(data.dataDirectory, 'events.sqlite'))
  const code = encodeURIComponent(dyingBehind(events))
  const dying = startToday(t, data, { NODE_OPTIONS: `--import=data:text/javascript,${code}` })
  t.is(await dying.exited, null, dying.stderr())
  t.true(eventsIn(join(data.dataDirectory, 'events.sqlite')) > events)
  await refusesOlder(t, await logAlone(t, data), 'events.sqlite')

  const { workers, open } = await goesOn(t, { data, sources, before })
  t.deepEqual(workers.map(({ worker }) => worker), ['local'])
  t.true(open.every(({ worker }) => worker === 'local'))
  await refusesOlder(t, data, '(documents|events|keyring).sqlite')
})
