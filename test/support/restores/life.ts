import assert from 'node:assert/strict'
import { ADA, BOB, ROOT } from '../older-data/lists.ts'
import { sampleSentences, silence } from '../audio/speech.ts'
import { issueToken, revokeToken, withKey } from '../service/api-tokens.ts'
import { logIn, type Client, type Json, type LiveJson, type TestSocket } from '../service/client.ts'

export interface Account {
  readonly username: string
  readonly password: string
}

/** Disabled, deleted and created after the backup, in this order. */
const CARL = { username: 'carl', password: 'carl has a password' }
const DORA = { username: 'dora', password: 'dora has a password' }
export const ZOE = { username: 'zoe', password: 'zoe has a password' }

/** What the backup contains. */
export interface BackedUp {
  /** API tokens of Ada. `revoked` is revoked after the backup. */
  readonly keys: { readonly kept: string; readonly revoked: string }
  /** Ids of sessions of Ada with retained text. `deleted` is deleted after the backup. */
  readonly retained: { readonly kept: number; readonly deleted: number }
  /** The id of an ended session of Bob whose text is not kept. */
  readonly unretained: number
  /** A listener token that Ada chose. */
  readonly listenerToken: string
}

/** What happened after the backup. */
export interface Lost {
  /** The highest ids. */
  readonly ids: Readonly<Record<'user' | 'live' | 'profile' | 'token', number>>
  /** Users of the backup. */
  readonly disabled: Account
  readonly deleted: Account
  /** A listener token that Bob chose. */
  readonly listenerToken: string
  /** Log-ins, also of a user who was created after the backup. */
  readonly jwts: ReadonlyArray<string>
}

const say = async (client: Client, live: LiveJson): Promise<TestSocket> => {
  const [sentence] = await sampleSentences()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  for (const samples of [sentence?.samples ?? silence(1), silence(2)]) sender.sendAudio(samples)
  await sender.frame(({ final }) => final === true)
  return sender
}

/** Creates a session, says a sentence in it and ends it. */
export const speakSession = async (client: Client, members: Json = {}): Promise<LiveJson> => {
  const live = await client.createLive(members)
  const sender = await say(client, live)
  sender.send({ type: 'FINISH' })
  await sender.closed
  return live
}

const createUser = async (url: string, account: Account): Promise<number> => {
  const root = await logIn(url, ROOT.username, ROOT.password)
  const body = { ...account, max_sessions: 100, permissions: ['user_retention'] as const }
  return (await root.api.call('createUser', { body })).data.id
}

const createProfile = async (client: Client, name: string): Promise<number> =>
  (await client.api.call('createProfile', { body: { name, max_chars: 30 } })).data.id

const deleteLive = (client: Client, id: number): Promise<unknown> => client.api.call('deleteLive', { path: { id } })

/** Fills a service with users, profiles, API tokens, and sessions of all kinds. Takes half a minute. */
export const liveUntilBackup = async (url: string): Promise<BackedUp> => {
  const eve = await createUser(url, { username: 'eve', password: 'eve has a password' })
  for (const account of [ADA, BOB, CARL, DORA]) await createUser(url, account)
  const root = await logIn(url, ROOT.username, ROOT.password)
  await root.api.call('changeUser', { path: { id: eve }, body: { is_active: false } })
  const [ada, bob] = [await logIn(url, ADA.username, ADA.password), await logIn(url, BOB.username, BOB.password)]

  const failing = await ada.createLive({ audio_format: 'hls', audio_url: 'http://media.invalid/a', auto_start: true })
  const unretained = await speakSession(bob)
  const kept = await speakSession(ada, { live_retention: true, translations: ['es', 'fr'] })
  const deleted = await speakSession(ada, { live_retention: true })
  await deleteLive(ada, (await speakSession(ada, { live_retention: true })).id)
  const listenerToken = 'chosen-by-ada'
  await ada.createLive({ listener_token: listenerToken })
  await ada.createLive({ audio_format: 'hls', audio_url: 'http://media.invalid/b' })
  await bob.request('POST', '/lives', {
    headers: { 'content-type': 'application/json', 'Idempotency-Key': 'once' },
    body: JSON.stringify({ model: 'demo-en', language: 'en' }),
  })
  await bob.api.call('finishLive', { path: { id: (await bob.createLive()).id } })
  for (const client of [ada, bob]) await createProfile(client, 'narrow')
  await revokeToken(ada, (await issueToken(ada, { name: 'revoked before the backup' })).id)
  const [first, second] = [await issueToken(ada, { name: 'kept' }), await issueToken(ada, { name: 'revoked' })]

  await ada.untilStatus(failing, 'error')
  return {
    keys: { kept: first.token, revoked: second.token },
    retained: { kept: kept.id, deleted: deleted.id },
    unretained: unretained.id,
    listenerToken,
  }
}

/** Lives on after the backup: revokes, disables, deletes, claims and creates. Leaves an active session of Ada. */
export const liveOn = async (url: string, { keys, retained }: BackedUp): Promise<Lost> => {
  const [ada, bob] = [await logIn(url, ADA.username, ADA.password), await logIn(url, BOB.username, BOB.password)]
  const root = await logIn(url, ROOT.username, ROOT.password)
  const { data: users } = await root.api.call('listUsers', { query: { limit: 100 } })
  const idOf = ({ username }: Account): number => users.find((user) => user.username === username)?.id ?? 0
  const carl = await logIn(url, CARL.username, CARL.password)
  await root.api.call('changeUser', { path: { id: idOf(CARL) }, body: { is_active: false } })
  await root.api.call('deleteUser', { path: { id: idOf(DORA) } })
  const { data: tokens } = await ada.api.call('listTokens', {})
  await revokeToken(ada, tokens.find(({ name }) => name === 'revoked')?.id ?? 0)
  assert.equal((await withKey(url, keys.revoked, '/lives/')).status, 401)
  await deleteLive(ada, retained.deleted)

  await speakSession(ada)
  await deleteLive(bob, (await speakSession(bob)).id)
  const user = await createUser(url, ZOE)
  const zoe = await logIn(url, ZOE.username, ZOE.password)
  await speakSession(zoe, { live_retention: true })
  const listenerToken = 'chosen-by-bob'
  await bob.createLive({ listener_token: listenerToken })
  const [profile, token] = [await createProfile(zoe, 'wide'), await issueToken(zoe, { name: 'of zoe' })]
  const active = await ada.createLive({ live_retention: true })
  await say(ada, active)
  return {
    ids: { user, live: active.id, profile, token: token.id },
    disabled: CARL,
    deleted: DORA,
    listenerToken,
    jwts: [root, ada, carl, zoe].flatMap((client) => client.token ?? []),
  }
}
