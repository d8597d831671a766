import assert from 'node:assert/strict'
import { delimiter } from 'node:path'
import type { ExecutionContext } from 'ava'
import {
  ADMISSION_STREAM, Admitted, CapacitySet, Moved, Released, WorkerDraining, WorkerJoined, WorkerLeft, WorkerRestarted,
} from '../../../domain/admission/events.ts'
import { evolve, initialState, reservedVram, type AdmissionState } from '../../../domain/admission/state.ts'
import { eventReader } from '../../../domain/read-event.ts'
import { issueToken, withKey } from '../service/api-tokens.ts'
import { createClient, logIn, type Client, type Json, type Listing } from '../service/client.ts'
import { stenolog } from '../service/command-line.ts'
import { eventually } from '../tools/eventually.ts'
import { launch, type Launched } from '../service/launch.ts'
import { right } from '../tools/right.ts'
import { prefixed } from '../service/service.ts'
import { openLogOf } from '../stores/stores.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'
import { ADA, inRecordedShape, BOB, checkLists, readLists, ROOT, TIMELESS_SETTINGS, type Lists } from './lists.ts'
import {
  create, openSessions, openSources, checkSessionsContinue, speak, type OpenSession, type Sources,
} from './open-sessions.ts'

/** Folders of older checkouts with installed dependencies, separated as in PATH. */
export const OLDER_CHECKOUTS = process.env['STENOLOG_TEST_OLDER_CHECKOUTS']?.split(delimiter) ?? []

export type Settings = Readonly<Record<string, string>>

/** A data directory and its stores. */
export interface ServiceData {
  readonly dataDirectory: string
  /** The settings of the stores without prefix; none for embedded stores. */
  readonly stores: Settings
}

export const emptyFolder = async (t: ExecutionContext): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  return path
}

/** Settings under which sessions wait for lost senders, and the sources of the tests may be pulled. */
const settingsFor = ({ dataDirectory, stores }: ServiceData): Settings => ({
  ...TIMELESS_SETTINGS,
  ...prefixed({ DATA_DIR: dataDirectory, AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32', RECONNECT_GRACE: '10m', ...stores }),
})

export const startOlder = (t: ExecutionContext, checkout: string, data: ServiceData): Launched =>
  launch(t, settingsFor(data), [], checkout)

/** Starts this version. `extra`: further environment variables. */
export const startThisVersion = (t: ExecutionContext, data: ServiceData, extra: Settings = {}): Launched =>
  launch(t, { ...settingsFor(data), STENOLOG_OVERCOMMIT: '0', ...extra })

const checkIsClean = async (
  t: ExecutionContext,
  { dataDirectory, stores }: ServiceData,
  when: string,
): Promise<void> => {
  const { code, stdout, stderr } = await stenolog(dataDirectory, ['check'], stores)
  t.is(code, 0, `${when}:\n${stdout}${stderr}`)
}

const OWNERS = [ADA, BOB]
const ALLOWED = { max_sessions: 100, permissions: ['admin', 'user_retention'] } as const
const ADMINISTRATORS = [ROOT, ...OWNERS]
const LIVES = 'root /admin/lives'

const vramOf = (lives: ReadonlyArray<Json>): number => lives.reduce((sum, { vram }) => sum + Number(vram), 0)

const isOpen = ({ status }: Json): boolean => status === 'pending' || status === 'active'

/** Returns all sessions. Checks that the reserved memory equals the memory of the open sessions. */
const sessionsAndTheirVram = async (t: ExecutionContext, url: string): Promise<ReadonlyArray<Json>> => {
  const root = await logIn(url, ROOT.username, ROOT.password)
  const { data } = (await root.get<Listing<Json>>('/admin/lives?limit=1000')).body
  const metrics = (await root.get<string>('/metrics')).body
  const reserved = Number(/^stenolog_vram_reserved_megabytes (\d+)$/m.exec(metrics)?.[1])
  t.is(reserved, vramOf(data.filter(isOpen)))
  return data
}

/** Throws unless the lists show these statuses. */
const assertStatuses = (
  lists: Lists, sessions: ReadonlyArray<OpenSession>, expected: (session: OpenSession) => string,
): void => {
  const statuses = new Map(lists[LIVES]?.map(({ id, status }) => [id, status]))
  assert.deepEqual(
    sessions.map(({ name, live }) => [name, statuses.get(live.id)]),
    sessions.map((session) => [session.name, expected(session)]),
  )
}

const administrators = (url: string): Promise<ReadonlyArray<Client>> =>
  Promise.all(ADMINISTRATORS.map(({ username, password }) => logIn(url, username, password)))

/** The data of the older version, and its answers shortly before the kill. */
interface OlderData {
  readonly data: ServiceData
  readonly sources: Sources
  readonly sessions: ReadonlyArray<OpenSession>
  readonly lists: Lists
  readonly setUpToken: string
  readonly apiToken: string
  readonly jwts: ReadonlyArray<string | undefined>
}

/** Creates three administrators, two of them with ten open sessions each, and kills the service. */
export const fillAndKill = async (t: ExecutionContext, checkout: string, data: ServiceData): Promise<OlderData> => {
  const sources = await openSources(t)
  const older = startOlder(t, checkout, data)
  const url = await older.url()
  const [, setUpToken = ''] = await eventually(() => {
    const link = /\/setup#token=(\S+)/.exec(older.stdout())
    if (link === null) throw new Error('the service has not printed the set-up link')
    return link
  })
  t.is((await createClient(url).post('/setup', { ...ROOT, token: setUpToken })).status, 200)
  const root = await logIn(url, ROOT.username, ROOT.password)
  for (const owner of OWNERS)
    await root.api.call('createUser', { body: { ...owner, ...ALLOWED } })
  for (const { username, password } of OWNERS) {
    const client = await logIn(url, username, password)
    await client.api.call('createProfile', { body: { name: 'narrow', max_chars: 30 } })
    await client.api.call('finishLive', { path: { id: (await client.createLive()).id } })
  }
  const { token: apiToken } = await issueToken(await logIn(url, ADA.username, ADA.password))
  const sessions = await openSessions(url, OWNERS, sources)
  t.is((await sessionsAndTheirVram(t, url)).filter(isOpen).length, 20)
  const jwts = (await administrators(url)).map(({ token }) => token)
  const lists = await readLists(url)
  assertStatuses(lists, sessions, ({ statusAfter }) => (statusAfter === 'pending' ? 'pending' : 'active'))
  for (const { sender, listener } of sessions) if (sender && listener) speak(sender, sources.speech)
  older.kill('SIGKILL')
  t.is(await older.exited, null)
  await checkIsClean(t, data, 'after the kill of the older version')
  return { data, sources, sessions, lists, setUpToken, apiToken, jwts }
}

/** Checks that all administrators can log in, that earlier log-ins are valid, and that no set-up is offered. */
const checkAdministrators = async (t: ExecutionContext, current: Launched, older: OlderData): Promise<void> => {
  const url = await current.url()
  const now = await administrators(url)
  for (const jwt of [...older.jwts, ...now.map(({ token }) => token)]) {
    const { body } = await createClient(url, jwt).get<Listing<Json>>('/users/')
    t.deepEqual(body.data.map(({ username }) => username), ADMINISTRATORS.map(({ username }) => username))
  }
  t.is((await withKey(url, older.apiToken, '/lives/')).status, 200)
  t.notRegex(current.stdout(), /setup/)
  t.notRegex((await createClient(url).get<string>('/setup')).body, /<form/)
  const eve = { username: 'eve', password: 'eve has a password', token: older.setUpToken }
  t.is((await createClient(url).post('/setup', eve)).status, 403)
}

/** Checks that a repeated create with a key gets the earlier answer and creates no session. */
const checkKeys = async (t: ExecutionContext, url: string, { sessions, sources }: OlderData): Promise<void> => {
  const before = await sessionsAndTheirVram(t, url)
  const keyed = sessions.filter(({ key }) => key !== undefined)
  t.is(keyed.length, 3)
  for (const session of keyed) {
    const client = await logIn(url, session.owner.username, session.owner.password)
    t.deepEqual(inRecordedShape(session.live, await create(client, session, sources)), session.live, session.name)
  }
  t.is((await sessionsAndTheirVram(t, url)).length, before.length)
}

const admissionOf = eventReader([
  CapacitySet, WorkerJoined, WorkerRestarted, WorkerDraining, WorkerLeft, Admitted, Moved, Released,
])

/** Reads the admission state from the log. */
const admissionIn = async (data: ServiceData): Promise<AdmissionState> => {
  const log = await openLogOf(data)
  const stored = right(await log.read(ADMISSION_STREAM))
  await log.close()
  return stored.flatMap((event) => admissionOf(event) ?? []).reduce(evolve, initialState)
}

/** Starts this version on the data of the older version, checks it, and kills it. Returns the admission state. */
export const upgradeAndCheck = async (t: ExecutionContext, older: OlderData): Promise<AdmissionState> => {
  const { data, sessions, sources } = older
  sources.repair()
  const current = startThisVersion(t, data)
  const url = await current.url()
  t.is((await fetch(`${url}/health/ready`)).status, 200)
  // On servers, a background task ends the abandoned sessions after the service is ready.
  const lists = await eventually(async () => {
    const found = await readLists(url)
    assertStatuses(found, sessions, ({ statusAfter }) => (statusAfter === 'error' ? 'active' : statusAfter))
    return found
  })
  const waiting = sessions.filter(({ statusAfter }) => statusAfter === 'pending')
  const running = sessions.filter(({ statusAfter }) => statusAfter === 'active').map(({ live }) => live)
  const ended = sessions.filter(({ statusAfter }) => statusAfter === 'finished')
  checkLists(t, older.lists, lists, sessions.filter((session) => !waiting.includes(session)).map(({ live }) => live.id))
  t.is((await sessionsAndTheirVram(t, url)).filter(isOpen).length, sessions.length - ended.length)
  await checkAdministrators(t, current, older)
  await checkKeys(t, url, older)
  await checkSessionsContinue(t, url, sessions, sources)

  t.is((await sessionsAndTheirVram(t, url)).filter(isOpen).length, running.length)
  await checkIsClean(t, data, 'while the service runs')
  current.kill('SIGKILL')
  t.is(await current.exited, null)
  await checkIsClean(t, data, 'after the kill of this version')
  const admission = await admissionIn(data)
  t.is(reservedVram(admission), vramOf(running))
  t.deepEqual(admission.open.map(({ liveId }) => liveId).toSorted((a, b) => a - b), running.map(({ id }) => id))
  return admission
}
