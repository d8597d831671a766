import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../tools/eventually.ts'

/** Whom a fresh server knows. */
export const ADMIN = { username: 'admin', password: 'changeit' }

/** One node of a server: a process on data that outlives its kills. */
export interface EventStoreNode {
  /** `127.0.0.1:port` of its clients. */
  readonly address: string
  /** What it calls itself: `leader`, `follower`, `unknown` while it looks for the others …; null where it does not answer within a second. */
  readonly state: () => Promise<string | null>
  /** The last election that it knows of: the number grows with each, also where it chooses the same leader again. */
  readonly epoch: () => Promise<number>
  /** Asks it as its administrator, over HTTP; the status and the text that it answers. */
  readonly ask: (method: 'GET' | 'POST', path: string) => Promise<{ readonly status: number; readonly text: string }>
  /** The leader lets the others choose anew. */
  readonly resign: () => Promise<void>
  /** kill -9; it stays away until it is started. */
  readonly kill: () => Promise<void>
  /** Starts it, after a kill, and waits until it answers, whatever it calls itself by then. */
  readonly start: () => Promise<void>
  /** Stops the process in its tracks: connections stay, nothing is answered. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** How often it ended by itself and was started again: a leader that was deposed in its absence does. */
  readonly restarts: () => number
}

interface NodeOptions {
  /** The server's executable. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly port: number
  /** Of the authority whose word it shows; null: no TLS. */
  readonly authority: string | null
  /** Of its data, its log and what it prints. */
  readonly folder: string
}

/** One that cannot start ends; one among many on a busy machine takes its time. */
const START_MS = 240_000
/** Ends of its own while it starts after which a node is given up. */
const MOST_ENDS = 3

export const createNode = ({ program, args, port, authority, folder }: NodeOptions): EventStoreNode => {
  const printed = join(folder, 'printed')
  let child: ChildProcess | null = null
  let isWanted = false
  let isFrozen = false
  let restarts = 0

  const ask = (method: string, path: string, signal?: AbortSignal): Promise<{ readonly status: number; readonly text: string }> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1', port, path, method, agent: false, auth: `${ADMIN.username}:${ADMIN.password}`,
        headers: { 'content-length': 0 }, ...(signal && { signal }),
      }
      const asked = authority === null ? plainRequest(options) : tlsRequest({ ...options, ca: authority, servername: 'localhost' })
      asked.once('error', reject).once('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.once('error', reject).once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      asked.end()
    })
  const state = async (): Promise<string | null> => {
    if (isFrozen) return null
    try {
      const { text } = await ask('GET', '/info', AbortSignal.timeout(1000))
      return (JSON.parse(text) as { readonly state: string }).state
    } catch {
      return null
    }
  }

  /** A node that ends itself is started again by whoever runs it. */
  const startAgain = async (ended: ChildProcess): Promise<void> => {
    if (!isWanted || child !== ended) return
    await delay(500)
    if (!isWanted || child !== ended) return
    restarts += 1
    run()
  }
  const run = (): ChildProcess => {
    mkdirSync(folder, { recursive: true })
    const out = openSync(printed, 'a')
    // Dies with us, however we end.
    const own = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      stdio: ['ignore', out, out],
      env: { ...process.env, EVENTSTORE_TELEMETRY_OPTOUT: 'true', DOTNET_gcServer: '0', DOTNET_EnableDiagnostics: '0' },
    })
    closeSync(out)
    child = own
    isFrozen = false
    own.once('exit', () => void startAgain(own))
    return own
  }
  const signal = (name: NodeJS.Signals): void => void child?.kill(name)
  const failure = async (): Promise<Error> => {
    const said = await readFile(printed, 'utf8').catch(() => '')
    return new Error(`EventStoreDB does not start at ${port}:\n${said.split('\n').slice(-20).join('\n')}`)
  }

  return {
    address: `127.0.0.1:${port}`,
    state,
    epoch: async () => {
      const { text } = await ask('GET', '/gossip', AbortSignal.timeout(1000))
      const { members } = JSON.parse(text) as { readonly members: ReadonlyArray<{ readonly epochNumber: number }> }
      return Math.max(...members.map(({ epochNumber }) => epochNumber))
    },
    ask,
    resign: async () => {
      const { status, text } = await ask('POST', '/admin/node/resign')
      if (status !== 200) throw new Error(`the resignation was answered ${status} ${text}`)
    },
    kill: async () => {
      isWanted = false
      const ending = child
      child = null
      if (ending === null || ending.exitCode !== null || ending.signalCode !== null) return
      const ended = once(ending, 'exit')
      ending.kill('SIGKILL')
      await ended
    },
    start: async () => {
      if (isWanted) throw new Error('the node runs already')
      let own = run()
      let ends = 0
      await eventually(async () => {
        // One that was deposed cuts off what nobody else has, ends itself, and is well when it is started again.
        if (own.exitCode !== null && (ends += 1) <= MOST_ENDS) own = run()
        if (own.exitCode === null && (await state()) === null) throw await failure()
      }, { timeoutMs: START_MS })
      if (own.exitCode !== null) throw await failure()
      isWanted = true
    },
    freeze: () => {
      isFrozen = true
      signal('SIGSTOP')
    },
    thaw: () => {
      isFrozen = false
      signal('SIGCONT')
    },
    restarts: () => restarts,
  }
}
