import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SAMPLE_RATE } from '../application/ports/engine.ts'
import { startServiceProcess } from '../interfaces/cli/service-process.ts'
import { logIn, type ApiClient } from '../interfaces/cli/streaming/api-client.ts'
import { streamLive } from '../interfaces/cli/streaming/live-stream.ts'
import { tableOf } from '../interfaces/cli/table.ts'
import { demoSpeech } from './audio.ts'
import { PASSWORD, settingsFor, untilReady, USERNAME } from './start.ts'

const OPTIONS = {
  sessions: { type: 'string', default: '100' },
  talks: { type: 'string', default: '6' },
  logins: { type: 'string', default: '200' },
} as const

/** The files whose size docs/operate/sizing.md states. */
const FILES = ['events.sqlite', 'documents.sqlite', 'keyring.sqlite'] as const

/** Bytes of each unit in each file, as docs/operate/sizing.md states them. */
const STATED = {
  session: [4300, 1600, 160],
  final: [650, 30, 0],
  'failed login': [1200, 0, 0],
}
/** A file may grow by this factor more, and by two pages more, because SQLite adds whole pages. */
const TOLERANCE = 1.15
const SPARE_BYTES = 2 * 4096

type Sizes = ReadonlyArray<number>

const sizesOf = async (directory: string): Promise<Sizes> => {
  const names = await readdir(directory)
  const sizes = FILES.map(async (file) => {
    const parts = names.filter((name) => name.startsWith(file)).map((name) => stat(join(directory, name)))
    return (await Promise.all(parts)).reduce((sum, { size }) => sum + size, 0)
  })
  return Promise.all(sizes)
}

/** Runs `work` on a service with this data. Returns by how much each file has grown once the service has stopped. */
const growthOf = async (
  directory: string,
  work: (client: ApiClient, url: string) => Promise<void>,
): Promise<Sizes> => {
  const before = await sizesOf(directory)
  const settings = { STENOLOG_TRUSTED_PROXIES: '127.0.0.1/32', STENOLOG_OVERCOMMIT: '0' }
  const { url, end } = await startServiceProcess({ ...settingsFor(directory), ...settings })
  await untilReady(url)
  await work(await logIn(url, USERNAME, PASSWORD), url)
  await end('SIGTERM')
  return (await sizesOf(directory)).map((size, index) => size - (before[index] ?? 0))
}

/** Streams the samples as sessions that keep their text, one after another. Returns the number of final lines. */
const speak = async (client: ApiClient, sessions: number, samples: Int16Array): Promise<number> => {
  let finals = 0
  for (let session = 0; session < sessions; session += 1) {
    const live = await client.createLive({ model: 'demo-en', language: 'en', live_retention: true })
    const frames = await streamLive(client, live, samples, { speed: Infinity })
    finals += frames.filter(({ final }) => final).length
  }
  return finals
}

/** Fails to log in with invented names, each from another network. */
const guess = async (url: string, logins: number): Promise<void> => {
  for (let login = 0; login < logins; login += 1) {
    const body = new URLSearchParams({ username: `nobody ${login}`, password: 'a guess' })
    const headers = { 'X-Forwarded-For': `10.0.${login >> 8}.${login & 255}` }
    const { status } = await fetch(`${url}/login`, { method: 'POST', body, headers })
    if (status !== 401) throw new Error(`a wrong login got status ${status}`)
  }
}

const perUnit = (growth: Sizes, units: number, without: Sizes = []): Sizes =>
  growth.map((size, index) => Math.round((size - (without[index] ?? 0)) / units))

/**
 * `npm run bench -- growth`: how many bytes a session, a final line and a failed login add to each file of the embedded
 * stores. Exits with 1 if one of them adds more than docs/operate/sizing.md states.
 */
export const growth = async (args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const [sessions, talks, logins] = [Number(values.sessions), Number(values.talks), Number(values.logins)]
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-bench-'))
  try {
    const [silence, { samples }] = [new Int16Array(SAMPLE_RATE), await demoSpeech()]
    // The first sessions create streams and pages that later ones share.
    await growthOf(directory, async (client) => void (await speak(client, 5, silence)))
    const ofSessions = await growthOf(directory, async (client) => void (await speak(client, sessions, silence)))
    const session = perUnit(ofSessions, sessions)
    let finals = 0
    const ofTalks = await growthOf(directory, async (client) => void (finals = await speak(client, talks, samples)))
    const ofLogins = await growthOf(directory, (_, url) => guess(url, logins))
    const rows = [
      { unit: 'session', units: sessions, bytes: session },
      { unit: 'final', units: finals, bytes: perUnit(ofTalks, finals, session.map((bytes) => talks * bytes)) },
      { unit: 'failed login', units: logins, bytes: perUnit(ofLogins, logins) },
    ] as const
    const excess = rows.flatMap(({ unit, units, bytes }) =>
      bytes.flatMap((size, index) => {
        const stated = STATED[unit][index] ?? 0
        const isMore = size > TOLERANCE * stated + SPARE_BYTES / units
        return isMore ? [`a ${unit} adds ${size} bytes to ${FILES[index]}, not ${stated}`] : []
      }))
    console.log(tableOf(['bytes', ...FILES], rows.map(({ unit, bytes }) => [unit, ...bytes])))
    for (const line of excess) console.error(`error: ${line}`)
    if (excess.length > 0) process.exitCode = 1
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
