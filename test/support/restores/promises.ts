import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { ADA, BOB, ROOT } from '../older-data/lists.ts'
import { issueToken, withKey } from '../service/api-tokens.ts'
import { createClient, logIn } from '../service/client.ts'
import { speakSession, ZOE, type Account, type BackedUp, type Lost } from './life.ts'

/** A service that runs on restored data, and what it must not repeat. */
export interface Restored {
  readonly url: string
  readonly dataDirectory: string
  readonly backedUp: BackedUp
  readonly lost: Lost
}

/** Where log and keyring were gone, ids begin this far behind those of the backup. */
const UNKNOWN_IDS = 1_000_000

const statusOfLogIn = async (url: string, { username, password }: Account): Promise<number> =>
  (await createClient(url).form('/login', { username, password })).status

/** Checks that ids continue behind `after`, and that what is created under them works. */
const checkIds = async (t: ExecutionContext, url: string, after: Lost['ids']): Promise<void> => {
  const root = await logIn(url, ROOT.username, ROOT.password)
  const zoe = (await root.api.call('createUser', { body: { ...ZOE, permissions: ['user_retention'] } })).data.id
  t.true(zoe > after.user, `the user id ${zoe} is new`)
  const client = await logIn(url, ZOE.username, ZOE.password)
  const live = await speakSession(client, { live_retention: true })
  t.true(live.id > after.live, `the session id ${live.id} is new`)
  t.regex((await client.get<string>(`/lives/${live.id}/transcript?format=txt`)).body, /\w/, 'new text is stored')
  const profile = (await client.api.call('createProfile', { body: { name: 'after', max_chars: 30 } })).data.id
  t.true(profile > after.profile, `the profile id ${profile} is new`)
  const token = await issueToken(client)
  t.true(token.id > after.token, `the token id ${token.id} is new`)
  t.is((await withKey(url, token.token, '/lives/')).status, 200)
}

const checkModes = async (t: ExecutionContext, directory: string): Promise<void> => {
  const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
  t.is(await modeOf(directory), 0o700, directory)
  for (const entry of await readdir(directory, { withFileTypes: true }))
    if (entry.isFile()) t.is(await modeOf(join(directory, entry.name)), 0o600, entry.name)
}

/** Checks what holds after every restore. */
const checkAlways = async (t: ExecutionContext, restored: Restored): Promise<void> => {
  const { url, dataDirectory, backedUp, lost } = restored
  for (const jwt of lost.jwts) t.is((await createClient(url, jwt).get('/users/me')).status, 401, 'a log-in has ended')
  t.is((await withKey(url, backedUp.keys.revoked, '/lives/')).status, 401)
  const ada = await logIn(url, ADA.username, ADA.password)
  t.is((await ada.get(`/lives/${backedUp.retained.kept}/transcript`)).status, 200)
  const bob = await logIn(url, BOB.username, BOB.password)
  t.is((await bob.get(`/lives/${backedUp.unretained}/transcript`)).status, 404)
  await checkModes(t, dataDirectory)
}

/** Checks that nothing erased came back. */
const checkErased = async (t: ExecutionContext, { url, backedUp, lost }: Restored): Promise<void> => {
  t.not(await statusOfLogIn(url, lost.deleted), 200, 'a deleted user')
  const ada = await logIn(url, ADA.username, ADA.password)
  for (const path of ['', '/transcript', '/history'])
    t.is((await ada.get(`/lives/${backedUp.retained.deleted}${path}`)).status, 404, `the deleted session${path}`)
}

/** Checks a restore that replaced the data of the lost time. */
export const checkRestored = async (t: ExecutionContext, restored: Restored): Promise<void> => {
  const { url, backedUp, lost } = restored
  await checkAlways(t, restored)
  await checkErased(t, restored)
  t.not(await statusOfLogIn(url, lost.disabled), 200, 'a disabled user')
  t.is((await withKey(url, backedUp.keys.kept, '/lives/')).status, 200)
  const ada = await logIn(url, ADA.username, ADA.password)
  const claim = { model: 'demo-en', language: 'en', listener_token: lost.listenerToken }
  t.is((await ada.post('/lives', claim)).status, 422, 'the listener token is still claimed')
  await checkIds(t, url, lost.ids)
}

/** Checks a restore where nothing tells what happened after the backup, or only the keys do. */
export const checkRestoredWithoutLog = async (
  t: ExecutionContext, restored: Restored, hasKeys: boolean,
): Promise<void> => {
  const { url, backedUp } = restored
  await checkAlways(t, restored)
  if (hasKeys) await checkErased(t, restored)
  t.is((await withKey(url, backedUp.keys.kept, '/lives/')).status, 401, 'an API token starts inactive')
  await checkIds(t, url, { user: UNKNOWN_IDS, live: UNKNOWN_IDS, profile: UNKNOWN_IDS, token: UNKNOWN_IDS })
}
