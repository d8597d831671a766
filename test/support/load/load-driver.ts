/**
 * A process that sends every command without pause and reports a journal of the acknowledged commands. It is started
 * with fork and gets a LoadAccounts as JSON. It ends when the service or the parent process ends.
 */
import { randomUUID } from 'node:crypto'
import { ApiError } from '../../../interfaces/client/client.ts'
import { logIn, type Client, type LiveJson } from '../service/client.ts'
import { createRandom } from '../tools/seeded.ts'
import { silence } from '../audio/speech.ts'

interface Account {
  readonly username: string
  readonly password: string
}

export interface LoadAccounts {
  readonly url: string
  readonly admin: Account
  /** Owns lives, profiles and API tokens. */
  readonly load: Account
  /** The account that changes its password. The passwords end in numbers, which count up. */
  readonly changer: Account & { readonly number: number }
  /** The seed of the random decisions. */
  readonly seed: string
}

/**
 * A command before its request (`request`) and after its answer. `unanswered`: the connection broke. `refused`: the
 * status was not 2xx. `subject`: the changed object (`live 7`); null for an object that is still to be created.
 * `state`: the state of the object after the command.
 */
export interface JournalEntry {
  readonly kind: 'request' | 'ack' | 'unanswered' | 'refused'
  readonly command: string
  readonly subject: string | null
  readonly state: string
}

const [SPEAKERS, OTHER_LIVES] = [2, 3]

export const passwordNumber = (number: number): string => `a password that changes ${number}`

const write = (entry: JournalEntry): void => {
  process.send?.(entry)
}

/** Reports a command before its request and after its answer. Throws unless the command was acknowledged. */
const journaled = async <A>(
  command: string,
  subject: string | null,
  state: string,
  act: () => Promise<readonly [subject: string, value: A]>,
): Promise<A> => {
  write({ kind: 'request', command, subject, state })
  try {
    const [changed, value] = await act()
    write({ kind: 'ack', command, subject: changed, state })
    return value
  } catch (error) {
    if (error instanceof ApiError) write({ kind: 'refused', command: `${command}: ${error.message}`, subject, state })
    else write({ kind: 'unanswered', command, subject, state })
    throw error
  }
}

/** Like `journaled`, for an existing object. */
const change = (command: string, subject: string, state: string, act: () => Promise<unknown>): Promise<void> =>
  journaled(command, subject, state, async () => {
    await act()
    return [subject, undefined]
  })

const speak = async (client: Client, live: LiveJson): Promise<void> => {
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config', min_buffer: 0.2 })
  for (let i = 0; i < 4; i += 1) sender.sendAudio(silence(0.25))
  sender.send({ type: 'FINISH' })
  const { code } = await sender.closed
  if (code !== 1000) throw new Error(`the socket closed with ${code}`)
}

const createLive = (client: Client): Promise<LiveJson> =>
  journaled('create a live', null, 'open', async () => {
    const live = await client.createLive()
    return [`live ${live.id}`, live]
  })

/** The slowest commands, because the model must be loaded. */
const spokenLives = (client: Client) => async (): Promise<void> => {
  const live = await createLive(client)
  await change('speak and FINISH', `live ${live.id}`, 'finished', () => speak(client, live))
}

const lives = (client: Client, random: () => number) => async (): Promise<void> => {
  const { id } = await createLive(client)
  const subject = `live ${id}`
  const path = { id }
  const fate = random()
  if (fate < 0.6) await change('finish a live', subject, 'finished', () => client.api.call('finishLive', { path }))
  if (fate > 0.3 && fate < 0.85)
    await change('delete a live', subject, 'gone', () => client.api.call('deleteLive', { path }))
}

const profiles = (client: Client, random: () => number) => async (): Promise<void> => {
  const profile = await journaled('create a profile', null, 'chars 40', async () => {
    const { data } = await client.api.call('createProfile', { body: { name: `of ${randomUUID()}`, max_chars: 40 } })
    return [`profile ${data.id}`, data]
  })
  const path = { id: profile.id }
  const subject = `profile ${profile.id}`
  const body = { max_chars: 41 }
  await change('change a profile', subject, 'chars 41', () => client.api.call('changeProfile', { path, body }))
  if (random() < 0.8)
    await change('delete a profile', subject, 'gone', () => client.api.call('deleteProfile', { path }))
}

const tokens = (client: Client, random: () => number) => async (): Promise<void> => {
  const token = await journaled('issue a token', null, 'on', async () => {
    const { data } = await client.api.call('createToken', { body: { name: 'of the load' } })
    return [`token ${data.id}`, data]
  })
  const path = { id: token.id }
  const subject = `token ${token.id}`
  const body = { is_active: false }
  await change('switch a token off', subject, 'off', () => client.api.call('changeToken', { path, body }))
  if (random() < 0.8) await change('revoke a token', subject, 'gone', () => client.api.call('deleteToken', { path }))
}

const users = (url: string, admin: Client, random: () => number) => async (): Promise<void> => {
  const account = { username: `of ${randomUUID()}`, password: 'a password of its own' }
  const user = await journaled('create a user', null, 'limit 3', async () => {
    const { data } = await admin.api.call('createUser', { body: { ...account, max_sessions: 3 } })
    return [`user ${data.id}`, data]
  })
  const path = { id: user.id }
  const subject = `user ${user.id}`
  const body = { max_sessions: 4 }
  await change('change a user', subject, 'limit 4', () => admin.api.call('changeUser', { path, body }))
  const fate = random()
  // A deletion also deletes the user's sessions. The check of the data covers this session, the journal does not.
  if (fate < 0.5) await (await logIn(url, account.username, account.password)).createLive()
  if (fate < 0.8) await change('delete a user', subject, 'gone', () => admin.api.call('deleteUser', { path }))
}

/** Changes the password again and again. A new password invalidates the log-ins with the earlier one. */
const passwords = (url: string, username: string, begin: number) => {
  let number = begin
  return async (): Promise<void> => {
    const client = await logIn(url, username, passwordNumber(number))
    const next = number + 1
    const body = { current_password: passwordNumber(number), new_password: passwordNumber(next) }
    await change('change a password', 'password', String(next), () => client.api.call('changeMyPassword', { body }))
    number = next
  }
}

const repeat = async (work: () => Promise<void>): Promise<never> => {
  for (;;) await work()
}

const main = async ({ url, admin, load, changer, seed }: LoadAccounts): Promise<void> => {
  const random = (name: string): (() => number) => createRandom(`${seed} ${name}`)
  const root = await logIn(url, admin.username, admin.password)
  const client = await logIn(url, load.username, load.password)
  process.once('disconnect', () => process.exit(0))
  await Promise.allSettled(
    [
      ...Array.from({ length: SPEAKERS }, () => spokenLives(client)),
      ...Array.from({ length: OTHER_LIVES }, (_, n) => lives(client, random(`lives ${n}`))),
      profiles(client, random('profiles')), tokens(client, random('tokens')), users(url, root, random('users')),
      passwords(url, changer.username, changer.number),
    ].map(repeat),
  )
  process.disconnect?.()
}

if (process.argv[1] === import.meta.filename) await main(JSON.parse(process.argv[2] ?? '') as LoadAccounts)
