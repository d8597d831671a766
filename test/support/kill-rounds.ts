import { fork } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { logIn } from './client.ts'
import type { Listing, LiveJson } from './client.ts'
import type { JournalEntry } from './load-driver.ts'
import { passwordOf, startTestService } from './service.ts'

const USERNAME = 'load'
const PASSWORD = passwordOf(USERNAME)
const DRIVER = join(import.meta.dirname, 'load-driver.ts')

/** Feeds the service from a process of its own and kills it after `aliveMs`; returns the driver's journal. */
const feedAndKill = async (url: string, aliveMs: number, kill: () => Promise<unknown>): Promise<ReadonlyArray<JournalEntry>> => {
  const journal: Array<JournalEntry> = []
  const driver = fork(DRIVER, [url, USERNAME, PASSWORD], { stdio: 'inherit' })
  const gone = new Promise<void>((resolve) => driver.once('exit', () => resolve()))
  const begun = new Promise<void>((resolve) => {
    driver.on('message', (entry: JournalEntry) => {
      journal.push(entry)
      resolve()
    })
  })
  await begun
  // The moment of death is what this test varies; nothing is waited for.
  await delay(aliveMs)
  await kill()
  await gone
  return journal
}

const everyLive = async (get: (path: string) => Promise<{ readonly body: Listing<LiveJson> }>): Promise<ReadonlyArray<LiveJson>> => {
  const lives: Array<LiveJson> = []
  for (;;) {
    const { data, pagination } = (await get(`/lives/?limit=1000&skip=${lives.length}`)).body
    lives.push(...data)
    if (lives.length >= pagination.total_items) return lives
  }
}

const OPEN = ['pending', 'active']

/**
 * `kill -9` of the whole process at random moments while lives are created, fed and finished; after each restart no
 * acknowledged write is missing and the reserved VRAM is that of the lives not yet over.
 */
export const killRounds = async (t: ExecutionContext, rounds: number): Promise<void> => {
  const service = await startTestService(t, { VRAM_MB: '1000000000' })
  const created = new Set<number>()
  const finished = new Set<number>()
  let roundsWithUnanswered = 0
  let slowest = 0
  await service.user(USERNAME, { max_sessions: 1_000_000 })

  for (let round = 0; round < rounds; round += 1) {
    const journal = await feedAndKill(service.url(), 100 + Math.random() * 1900, () => service.kill())
    for (const entry of journal)
      if (entry.kind === 'ack' && entry.liveId !== null) (entry.what === 'create' ? created : finished).add(entry.liveId)
    if (journal.some(({ kind }) => kind === 'unanswered')) roundsWithUnanswered += 1

    const begin = performance.now()
    await service.start()
    const client = await logIn(service.url(), USERNAME, PASSWORD)
    t.is((await client.get('/health/ready')).status, 200)
    slowest = Math.max(slowest, performance.now() - begin)
    const metrics = (await client.get<string>('/metrics')).body
    const lives = await everyLive((path) => client.get<Listing<LiveJson>>(path))

    const byId = new Map(lives.map((live) => [live.id, live]))
    t.deepEqual([...created].filter((id) => !byId.has(id)), [], 'every acknowledged create is there')
    t.deepEqual([...finished].filter((id) => byId.get(id)?.status !== 'finished'), [], 'every acknowledged end is there')
    t.deepEqual(lives.filter(({ status }) => status === 'active').map(({ id }) => id), [], 'no raw live is active after a restart')
    t.is(new Set(lives.map(({ id }) => id)).size, lives.length, 'ids are unique')
    const reserved = Number(/^stenolog_vram_reserved_megabytes (\d+)$/m.exec(metrics)?.[1])
    t.is(reserved, lives.filter(({ status }) => OPEN.includes(status)).reduce((sum, { vram }) => sum + vram, 0))
  }
  t.true(created.size > 0 && finished.size > 0, 'the driver got through')
  t.log(
    `${rounds} kills, ${roundsWithUnanswered} with a request unanswered; ${created.size} creates and ${finished.size} ends acknowledged; slowest restart to ready ${Math.round(slowest)} ms`,
  )
  if (rounds >= 30) t.true(roundsWithUnanswered >= 10)
}
