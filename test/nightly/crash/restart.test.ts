import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import { inspect } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { createClient, logIn, type Client, type Json, type Listing } from '../../support/service/client.ts'
import { stenolog } from '../../support/service/command-line.ts'
import { passwordNumber, type JournalEntry, type LoadAccounts } from '../../support/load/load-driver.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { ADMIN, passwordOf, startTestService, type TestService } from '../../support/service/service.ts'

const LOAD = { username: 'load', password: passwordOf('load') }
const CHANGER = 'changer'
const DRIVER = join(import.meta.dirname, '../../support/load/load-driver.ts')

/**
 * The possible states of each object in the journals: the state after its last acknowledged command, and the states
 * after later commands that were not answered.
 */
type Expected = Map<string, ReadonlySet<string>>

interface Round {
  readonly accounts: LoadAccounts
  /** The command that must be acknowledged before the kill; null: any command. */
  readonly first: string | null
  /** Time from the acknowledgement to the kill. */
  readonly aliveMs: number
  readonly kill: () => Promise<unknown>
}

/** Loads the service from a separate process and kills the service. Returns the journal of the driver. */
const feedAndKill = async ({ accounts, first, aliveMs, kill }: Round): Promise<ReadonlyArray<JournalEntry>> => {
  const journal: Array<JournalEntry> = []
  const driver = fork(DRIVER, [JSON.stringify(accounts)], { stdio: 'inherit' })
  // On a busy machine the last messages arrive after the exit.
  const ended = Promise.all([once(driver, 'exit'), once(driver, 'disconnect')])
  const begun = new Promise<void>((resolve) => {
    driver.on('message', (entry: JournalEntry) => {
      journal.push(entry)
      if (entry.kind === 'ack' && (first === null || entry.command === first)) resolve()
    })
  })
  await Promise.race([begun, ended])
  // This delay is not a wait: the test varies the moment of the kill.
  await delay(aliveMs)
  await kill()
  await ended
  return journal
}

const updateExpected = (expected: Expected, journal: ReadonlyArray<JournalEntry>): void => {
  for (const { kind, subject, state } of journal) {
    if (subject === null) continue
    if (kind === 'ack') expected.set(subject, new Set([state]))
    if (kind === 'unanswered') expected.set(subject, new Set([...(expected.get(subject) ?? []), state]))
  }
}

/** Reads all pages of a list. */
const readAll = async <A>(client: Client, path: string): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for (;;) {
    const { data, pagination } = (await client.get<Listing<A>>(`${path}?limit=1000&skip=${all.length}`)).body
    all.push(...data)
    if (all.length >= pagination.total_items) return all
  }
}

const OPEN = ['pending', 'active']

interface ListedItem extends Json {
  readonly id: number
}

interface ListedLive extends ListedItem {
  readonly status: string
  readonly vram: number
}

/** Reads the states of everything after a restart. */
const readStates = async (admin: Client, load: Client) => {
  const lives = await readAll<ListedLive>(admin, '/admin/lives')
  const profiles = await readAll<ListedItem>(load, '/user-live-configs')
  const tokens = await readAll<ListedItem>(load, '/tokens')
  const users = await readAll<ListedItem>(admin, '/users')
  const listed = [
    ...lives.map(({ id, status }) => [`live ${id}`, OPEN.includes(status) ? 'open' : status] as const),
    ...profiles.map(({ id, max_chars }) => [`profile ${id}`, `chars ${String(max_chars)}`] as const),
    ...tokens.map(({ id, is_active }) => [`token ${id}`, is_active === true ? 'on' : 'off'] as const),
    ...users.map(({ id, max_sessions }) => [`user ${id}`, `limit ${String(max_sessions)}`] as const),
  ]
  return { lives, listed, states: new Map<string, string>(listed) }
}

/** Finds the number of the current password. While a store is unavailable the log-in is repeated. */
const currentPassword = async (url: string, numbers: ReadonlySet<string>): Promise<string> => {
  const next = Math.max(...[...numbers].map(Number)) + 1
  for (const number of [...numbers, String(next)]) {
    const status = await eventually(async () => {
      const login = { username: CHANGER, password: passwordNumber(Number(number)) }
      const answer = await createClient(url).form('/login', login)
      const isDecided = answer.status === 200 || answer.status === 401
      assert.ok(isDecided, `a log-in was answered ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.status
    })
    if (status === 200) return number
  }
  return 'unknown'
}

/** Waits until the service is ready. Its port opens earlier; until then it may answer 503. */
const untilReady = (service: TestService): Promise<void> =>
  eventually(async () => {
    const { status, body } = await service.anonymous().get('/health/ready')
    assert.equal(status, 200, `${JSON.stringify(body)}\n${service.log()}`)
  })

/** Compares the states with the journals. The read states then become the expected states. */
const compare = async (t: ExecutionContext, service: TestService, expected: Expected): Promise<void> => {
  const [admin, load] = [await service.admin(), await logIn(service.url(), LOAD.username, LOAD.password)]
  const { lives, listed, states } = await readStates(admin, load)
  t.is(states.size, listed.length, 'ids are unique')
  const active = lives.filter(({ status }) => status === 'active').map(({ id }) => id)
  t.deepEqual(active, [], 'no raw session is active after a restart')
  states.set('password', await currentPassword(service.url(), expected.get('password') ?? new Set()))
  for (const [subject, possible] of expected) {
    const state = states.get(subject) ?? 'gone'
    // Sessions that ran during the kill have ended.
    const hasEnded = possible.has('open') && state === 'finished'
    if (!possible.has(state) && !hasEnded) t.fail(`${subject} is ${state}, not ${[...possible].join(' or ')}`)
    if (state === 'gone') expected.delete(subject)
    else expected.set(subject, new Set([state]))
  }
  const metrics = (await admin.get<string>('/metrics')).body
  const reserved = Number(/^stenolog_vram_reserved_megabytes (\d+)$/m.exec(metrics)?.[1])
  const needed = lives.filter(({ status }) => OPEN.includes(status)).reduce((sum, { vram }) => sum + vram, 0)
  t.is(reserved, needed)
}

const checkIsClean = async (
  t: ExecutionContext,
  { dataDirectory, stores }: TestService,
  when: string,
): Promise<void> => {
  const { code, stdout, stderr } = await stenolog(dataDirectory, ['check'], stores)
  t.is(code, 0, `${when}:\n${stdout}${stderr}`)
}

/** The slowest command, because the model is loaded before the first transcription. */
const SLOWEST = 'speak and FINISH'

const COMMANDS = [
  'create a live', SLOWEST, 'finish a live', 'delete a live', 'create a profile', 'change a profile',
  'delete a profile',
  'issue a token', 'switch a token off', 'revoke a token', 'create a user', 'change a user', 'delete a user',
  'change a password',
]

/** A data directory is replaced after this many kills, because `check` reads all of it. */
const KILLS_PER_DIRECTORY = 20

/**
 * Kills the service with SIGKILL at random moments under load. After each restart every object must have the state of
 * its last acknowledged command or of a later unanswered command. The reserved memory must equal the memory of the open
 * sessions. With `check`, `stenolog check` must find no problem, alternately before and after the restart.
 */
const killRounds = async (t: ExecutionContext, rounds: number, { check = false } = {}): Promise<void> => {
  const counts = { ack: new Map<string, number>(), unanswered: new Map<string, number>() }
  const { seed, random } = chanceOf(t)
  const lifetimes = random('lifetimes')
  let roundsWithUnanswered = 0
  let slowest = 0

  let directories = 0
  const oneDirectory = async (kills: number): Promise<void> => {
    directories += 1
    const service = await startTestService(t, { VRAM_MB: '1000000000' })
    await service.user(LOAD.username, { max_sessions: 1_000_000 })
    await (await service.admin()).api.call('createUser', { body: { username: CHANGER, password: passwordNumber(0) } })
    const expected: Expected = new Map([['password', new Set(['0'])]])
    const killOnce = async (kill: number): Promise<void> => {
      const changer = { username: CHANGER, password: '', number: Number([...(expected.get('password') ?? [])][0]) }
      const accounts = { url: service.url(), admin: ADMIN, load: LOAD, changer, seed: `${seed} ${directories} ${kill}` }
      const first = kill % 4 === 3 ? SLOWEST : null
      const journal = await feedAndKill({ accounts, first, aliveMs: lifetimes() * 1500, kill: () => service.kill() })
      t.deepEqual(journal.filter(({ kind }) => kind === 'refused').map(({ command }) => command), [])
      updateExpected(expected, journal)
      for (const { kind, command } of journal)
        if (kind === 'ack' || kind === 'unanswered') counts[kind].set(command, (counts[kind].get(command) ?? 0) + 1)
      if (journal.some(({ kind }) => kind === 'unanswered')) roundsWithUnanswered += 1
      if (check && kill % 2 === 0) await checkIsClean(t, service, 'before the restart')

      const begin = performance.now()
      await service.start()
      await untilReady(service)
      slowest = Math.max(slowest, performance.now() - begin)
      await compare(t, service, expected)
      if (check && kill % 2 === 1) await checkIsClean(t, service, 'after the restart')
    }
    for (let kill = 0; kill < kills; kill += 1) {
      await killOnce(kill).catch((error: unknown) => {
        throw new Error(`directory ${directories}, kill ${kill + 1}: ${inspect(error)}\n${service.log()}`)
      })
    }
    await service.kill()
  }
  for (let done = 0; done < rounds; done += KILLS_PER_DIRECTORY)
    await oneDirectory(Math.min(KILLS_PER_DIRECTORY, rounds - done))

  const describe = (commands: ReadonlyMap<string, number>): string =>
    [...commands].map(([command, times]) => `${command} ${times}`).toSorted().join(', ')
  t.log(`${rounds} kills, ${roundsWithUnanswered} with an unanswered request; slowest start ${Math.round(slowest)} ms`)
  t.log(`acknowledged: ${describe(counts.ack)}`)
  t.log(`unanswered: ${describe(counts.unanswered)}`)
  t.true((counts.ack.get('create a live') ?? 0) > 0, 'the driver created sessions')
  if (rounds >= 30) {
    t.true(roundsWithUnanswered >= 0.3 * rounds)
    for (const command of COMMANDS) t.true((counts.ack.get(command) ?? 0) > 0, `${command} was acknowledged`)
  }
}

// STENOLOG_TEST_STORES=servers runs this test on EventStoreDB and MongoDB instead of the embedded stores.
const KILLS = Number(process.env['STENOLOG_TEST_KILLS'] ?? 200)

test(`${KILLS} kill -9 under load lose no acknowledged write and leak no memory`, async (t) => {
  t.timeout(KILLS * 60_000)
  await killRounds(t, KILLS, { check: true })
})
