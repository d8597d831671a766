import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { ExecutionContext } from 'ava'
import { sampleSentences, silence } from '../audio/speech.ts'
import { eventually } from '../tools/eventually.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'
import { stenolog } from '../service/command-line.ts'
import { createClient, type Client, type Json, type LiveJson, type Single } from '../service/client.ts'
import { startTestService, type TestService } from '../service/service.ts'

/** Returns the names of the keys in a keyring's file. */
export const keysIn = (file: string): ReadonlyArray<string> => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare('SELECT name FROM keys').all().map(({ name }) => String(name))
  } finally {
    database.close()
  }
}

/** Sets the format of the stopped service's files, as a newer version would. */
export const markAs = (directory: string, format: number, names: ReadonlyArray<string>): void => {
  for (const name of names) {
    const database = new DatabaseSync(join(directory, name))
    database.exec(`PRAGMA user_version = ${format}`)
    database.close()
  }
}

/** Runs a command on the data of a service. Throws unless it exits with 0. */
export const succeed = async (service: TestService, ...args: ReadonlyArray<string>): Promise<string> => {
  const { code, stdout, stderr } = await stenolog(service.dataDirectory, args, service.stores)
  assert.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`)
  return stdout
}

/** Says one sentence in a new session and ends it. */
export const speak = async (client: Client, members: Json = {}): Promise<LiveJson> => {
  const live = await client.createLive(members)
  const [sentence] = await sampleSentences()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  for (const samples of [sentence?.samples ?? silence(1), silence(2)]) sender.sendAudio(samples)
  sender.send({ type: 'FINISH' })
  await sender.closed
  await client.untilStatus(live, 'finished')
  return live
}

export const transcriptOf = async (client: Client, { id }: LiveJson): Promise<ReadonlyArray<unknown>> =>
  (await client.get<Single<{ readonly transcript: ReadonlyArray<unknown> }>>(`/lives/${id}/transcript`))
    .body.data.transcript

export const idOf = async (client: Client): Promise<number> =>
  (await client.get<Single<{ readonly id: number }>>('/users/me')).body.data.id

/** A service, a backup of it at session 1, and what happened after the backup. */
export interface LostTime {
  readonly service: TestService
  readonly backup: string
  /** The login of a user that was registered after the backup. */
  readonly lostLogin: string
  /** The login of a user that is in the backup. */
  readonly oldLogin: string
  readonly lastLive: number
  readonly lastUser: number
}

/**
 * Backs up a service with one session. Then: five sessions, the text of three is forgotten and two are deleted; one
 * user is registered and deleted, and one is registered.
 */
export const loseTime = async (t: ExecutionContext): Promise<LostTime> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const backup = join(path, 'backup')
  const service = await startTestService(t)
  const admin = await service.admin()
  await admin.createLive({ live_retention: true })
  await succeed(service, 'backup', backup)
  const lives: Array<LiveJson> = []
  for (let count = 0; count < 3; count += 1) lives.push(await speak(admin))
  for (let count = 0; count < 2; count += 1) {
    const live = await admin.createLive()
    lives.push(live)
    await admin.put(`/lives/${live.id}/finish`)
    assert.equal((await admin.request('DELETE', `/lives/${live.id}`)).status, 200)
  }
  await service.user('bob')
  await succeed(service, 'users', 'delete', 'bob')
  const carol = await service.user('carol')
  const keyring = join(service.dataDirectory, 'keyring.sqlite')
  const texts = lives.map(({ id }) => `text-${id}`)
  await eventually(() => assert.ok(!keysIn(keyring).some((name) => texts.includes(name))), { timeoutMs: 180_000 })
  const [lostLogin, oldLogin] = [carol.token ?? '', admin.token ?? '']
  const [lastLive, lastUser] = [Math.max(...lives.map(({ id }) => id)), await idOf(carol)]
  await service.kill('SIGTERM')
  return { service, backup, lostLogin, oldLogin, lastLive, lastUser }
}

/** Asserts that a restored service gives out new ids, stores texts, and refuses the logins of the lost time. */
export const assertRestored = async (
  t: ExecutionContext, { service, lostLogin, oldLogin, lastLive, lastUser }: LostTime,
): Promise<void> => {
  const ids: Array<number> = []
  for (const login of [lostLogin, oldLogin])
    t.is((await createClient(service.url(), login).get('/users/me')).status, 401, 'an old login is refused')
  const admin = await service.admin()
  for (let count = 0; count < 3; count += 1) {
    const live = await speak(admin, { live_retention: true })
    t.true((await transcriptOf(admin, live)).length > 0, `session ${live.id} keeps its text`)
    ids.push(live.id)
  }
  t.true(Math.min(...ids) > lastLive, `${ids.join()} are new`)
  for (const name of ['bob', 'carol']) {
    const client = await service.user(name)
    t.true((await idOf(client)) > lastUser, `${name} has a new id`)
    t.is((await createClient(service.url(), lostLogin).get('/users/me')).status, 401)
  }
  await succeed(service, 'check')
}
