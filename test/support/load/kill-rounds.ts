import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Client, Json, Listing } from '../service/client.ts'
import { createClient, logIn } from '../service/client.ts'
import { stenolog } from '../service/command-line.ts'
import { passwordNumber } from './load-driver.ts'
import type { JournalEntry, LoadAccounts } from './load-driver.ts'
import { eventually } from '../tools/eventually.ts'
import { chanceOf } from '../tools/seeded.ts'
import { ADMIN, passwordOf, startTestService } from '../service/service.ts'
import type { TestService } from '../service/service.ts'

const LOAD = { username: 'load', password: passwordOf('load') }
const CHANGER = 'changer'
const DRIVER = join(import.meta.dirname, 'load-driver.ts')

/** Every thing that the journals name, with the states that it may be in: one, and those that unanswered commands leave. */
type Expected = Map<string, ReadonlySet<string>>

interface Round {
  readonly accounts: LoadAccounts
  /** What must have been acknowledged; null: anything. */
  readonly first: string | null
  /** How long the service lives on after that. */
  readonly aliveMs: number
  readonly kill: () => Promise<unknown>
}

/** Feeds the service from a process of its own and kills it; returns the driver's journal. */
const feedAndKill = async ({ accounts, first, aliveMs, kill }: Round): Promise<ReadonlyArray<JournalEntry>> => {
  const journal: Array<JournalEntry> = []
  const driver = fork(DRIVER, [JSON.stringify(accounts)], { stdio: 'inherit' })
  // What it wrote last may come after it has ended, on a busy machine.
  const gone = Promise.all([once(driver, 'exit'), once(driver, 'disconnect')])
  const begun = new Promise<void>((resolve) => {
    driver.on('message', (entry: JournalEntry) => {
      journal.push(entry)
      if (entry.kind === 'ack' && (first === null || entry.what === first)) resolve()
    })
  })
  await Promise.race([begun, gone])
  // The moment of death is what this test varies; nothing is waited for.
  await delay(aliveMs)
  await kill()
  await gone
  return journal
}

const expect = (expected: Expected, journal: ReadonlyArray<JournalEntry>): void => {
  for (const { kind, thing, leaves } of journal) {
    if (thing === null) continue
    if (kind === 'ack') expected.set(thing, new Set([leaves]))
    if (kind === 'unanswered') expected.set(thing, new Set([...(expected.get(thing) ?? []), leaves]))
  }
}

const everyOne = async <A>(client: Client, path: string): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for (;;) {
    const { data, pagination } = (await client.get<Listing<A>>(`${path}?limit=1000&skip=${all.length}`)).body
    all.push(...data)
    if (all.length >= pagination.total_items) return all
  }
}

const OPEN = ['pending', 'active']

interface Seen extends Json {
  readonly id: number
}

/** What the service says of everything after a restart. */
const lookAround = async (admin: Client, load: Client) => {
  const lives = await everyOne<Seen & { readonly status: string; readonly vram: number }>(admin, '/admin/lives')
  const listed = [
    ...lives.map(({ id, status }) => [`live ${id}`, OPEN.includes(status) ? 'open' : status] as const),
    ...(await everyOne<Seen>(load, '/user-live-configs')).map(({ id, max_chars }) => [`profile ${id}`, `chars ${String(max_chars)}`] as const),
    ...(await everyOne<Seen>(load, '/tokens')).map(({ id, is_active }) => [`token ${id}`, is_active === true ? 'on' : 'off'] as const),
    ...(await everyOne<Seen>(admin, '/users')).map(({ id, max_sessions }) => [`user ${id}`, `limit ${String(max_sessions)}`] as const),
  ]
  return { lives, listed, states: new Map<string, string>(listed) }
}

/** The number of the password that opens the account, of those that may; a store that is slow says nothing of it. */
const passwordThatFits = async (url: string, numbers: ReadonlySet<string>): Promise<string> => {
  const next = Math.max(...[...numbers].map(Number)) + 1
  for (const number of [...numbers, String(next)]) {
    const status = await eventually(async () => {
      const answer = await createClient(url).form('/login', { username: CHANGER, password: passwordNumber(Number(number)) })
      assert.ok(answer.status === 200 || answer.status === 401, `a login is answered ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.status
    })
    if (status === 200) return number
  }
  return 'none of those that it may be'
}

/**
 * Waits until the service says that it is ready. Its port opens before, where a store or the machine is slow: what it
 * cannot tell yet it answers with 503, and that is not what this test is about.
 */
const untilReady = (service: TestService): Promise<void> =>
  eventually(async () => {
    const { status, body } = await service.anonymous().get('/health/ready')
    assert.equal(status, 200, `${JSON.stringify(body)}\n${service.log()}`)
  })

/** Compares everything with the journals, and then holds the service to what it said. */
const compare = async (t: ExecutionContext, service: TestService, expected: Expected): Promise<void> => {
  const [admin, load] = [await service.admin(), await logIn(service.url(), LOAD.username, LOAD.password)]
  const { lives, listed, states } = await lookAround(admin, load)
  t.is(states.size, listed.length, 'ids are unique')
  t.deepEqual(lives.filter(({ status }) => status === 'active').map(({ id }) => id), [], 'no raw live is active after a restart')
  states.set('password', await passwordThatFits(service.url(), expected.get('password') ?? new Set()))
  for (const [thing, may] of expected) {
    const is = states.get(thing) ?? 'gone'
    // What ran when the process died is over.
    if (!may.has(is) && !(may.has('open') && is === 'finished')) t.fail(`${thing} is ${is}, not ${[...may].join(' or ')}`)
    if (is === 'gone') expected.delete(thing)
    else expected.set(thing, new Set([is]))
  }
  const metrics = (await admin.get<string>('/metrics')).body
  const reserved = Number(/^stenolog_vram_reserved_megabytes (\d+)$/m.exec(metrics)?.[1])
  t.is(reserved, lives.filter(({ status }) => OPEN.includes(status)).reduce((sum, { vram }) => sum + vram, 0))
}

const checkIsClean = async (t: ExecutionContext, { dataDirectory, stores }: TestService, when: string): Promise<void> => {
  const { code, stdout, stderr } = await stenolog(dataDirectory, ['check'], stores)
  t.is(code, 0, `${when}:\n${stdout}${stderr}`)
}

/** The model is loaded before a live can speak. */
const SLOWEST = 'speak and FINISH'

const COMMANDS = [
  'create a live', SLOWEST, 'finish a live', 'delete a live', 'create a profile', 'change a profile', 'delete a profile',
  'issue a token', 'switch a token off', 'revoke a token', 'create a user', 'change a user', 'delete a user', 'change a password',
]

/** A fresh data directory that grows over this many kills: `check` reads all of it. */
const KILLS_A_DIRECTORY = 20

/**
 * `kill -9` of the whole process at random moments while every command is in flight; after each restart everything is as
 * the last acknowledged command left it, or as an unanswered one did, and the reserved memory is that of the lives not yet
 * over. With `check`, `stenolog check` finds nothing wrong: by turns in what the kill left, and beside the service that came
 * back.
 */
export const killRounds = async (t: ExecutionContext, rounds: number, { check = false } = {}): Promise<void> => {
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
    for (let kill = 0; kill < kills; kill += 1) {
      const changer = { username: CHANGER, password: '', number: Number([...(expected.get('password') ?? [])][0]) }
      const accounts = { url: service.url(), admin: ADMIN, load: LOAD, changer, seed: `${seed} ${directories} ${kill}` }
      const first = kill % 4 === 3 ? SLOWEST : null
      const journal = await feedAndKill({ accounts, first, aliveMs: lifetimes() * 1500, kill: () => service.kill() })
      t.deepEqual(journal.filter(({ kind }) => kind === 'refused').map(({ what }) => what), [])
      expect(expected, journal)
      for (const { kind, what } of journal)
        if (kind === 'ack' || kind === 'unanswered') counts[kind].set(what, (counts[kind].get(what) ?? 0) + 1)
      if (journal.some(({ kind }) => kind === 'unanswered')) roundsWithUnanswered += 1
      if (check && kill % 2 === 0) await checkIsClean(t, service, 'before the restart')

      const begin = performance.now()
      await service.start()
      await untilReady(service)
      slowest = Math.max(slowest, performance.now() - begin)
      await compare(t, service, expected)
      if (check && kill % 2 === 1) await checkIsClean(t, service, 'after the restart')
    }
    await service.kill()
  }
  for (let done = 0; done < rounds; done += KILLS_A_DIRECTORY) await oneDirectory(Math.min(KILLS_A_DIRECTORY, rounds - done))

  const told = (of: ReadonlyMap<string, number>): string => [...of].map(([what, times]) => `${what} ${times}`).toSorted().join(', ')
  t.log(`${rounds} kills, ${roundsWithUnanswered} with a request unanswered; slowest until ready ${Math.round(slowest)} ms`)
  t.log(`acknowledged: ${told(counts.ack)}`)
  t.log(`unanswered: ${told(counts.unanswered)}`)
  t.true((counts.ack.get('create a live') ?? 0) > 0, 'the driver got through')
  if (rounds >= 30) {
    t.true(roundsWithUnanswered >= 0.3 * rounds)
    for (const what of COMMANDS) t.true((counts.ack.get(what) ?? 0) > 0, `${what} was acknowledged`)
  }
}
