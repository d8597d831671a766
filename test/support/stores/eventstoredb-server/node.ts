import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../tools/eventually.ts'

/** The account of an empty server. */
export const ADMIN = { username: 'admin', password: 'changeit' }

interface NodeAnswer {
  readonly status: number
  readonly text: string
}

/** One node of a server. Its data outlives its kills. */
export interface EventStoreNode {
  /** `127.0.0.1:port`, for clients. */
  readonly address: string
  /** The state that the node reports (`leader`, `follower`, `unknown`, …); null when it does not answer within 1 s. */
  readonly state: () => Promise<string | null>
  /** The number of the last election that the node knows. Every election raises it. */
  readonly epoch: () => Promise<number>
  /** Sends an HTTP request as the administrator. */
  readonly ask: (method: 'GET' | 'POST', path: string) => Promise<NodeAnswer>
  /** Makes the leader start an election. */
  readonly resign: () => Promise<void>
  /** Sends SIGKILL. The node stays down until `start`. */
  readonly kill: () => Promise<void>
  /** Starts the node after a kill and waits until it answers, in any state. */
  readonly start: () => Promise<void>
  /** Stops the process with SIGSTOP: connections stay open, nothing is answered. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** The number of times that the node ended on its own, as a deposed leader does, and was started again. */
  readonly restarts: () => number
}

interface NodeOptions {
  /** The path of the server's executable. */
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly port: number
  /** The certificate of the authority; null: no TLS. */
  readonly authority: string | null
  /** The folder of its data, its log and its output. */
  readonly folder: string
}

/** Long, because a start takes minutes on a busy machine. A node that cannot start ends. */
const START_MS = 240_000
/** The maximum number of times that a node may end on its own while it starts. */
const MAX_ENDS = 3

export const createNode = ({ program, args, port, authority, folder }: NodeOptions): EventStoreNode => {
  const printed = join(folder, 'printed')
  let child: ChildProcess | null = null
  let isWanted = false
  let isFrozen = false
  let restarts = 0

  const ask = (method: string, path: string, signal?: AbortSignal): Promise<NodeAnswer> =>
    new Promise((resolve, reject) => {
      const options = {
        host: '127.0.0.1', port, path, method, agent: false, auth: `${ADMIN.username}:${ADMIN.password}`,
        headers: { 'content-length': 0 }, ...(signal && { signal }),
      }
      const tls = { ...options, ca: authority ?? '', servername: 'localhost' }
      const request = authority === null ? plainRequest(options) : tlsRequest(tls)
      request.once('error', reject).once('response', (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.once('error', reject).once('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      request.end()
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

  /** Starts a node that ended on its own again, as a service manager does. */
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
    // setpriv makes the node die with the process of the test.
    const node = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      stdio: ['ignore', out, out],
      env: { ...process.env, EVENTSTORE_TELEMETRY_OPTOUT: 'true', DOTNET_gcServer: '0', DOTNET_EnableDiagnostics: '0' },
    })
    closeSync(out)
    child = node
    isFrozen = false
    node.once('exit', () => void startAgain(node))
    return node
  }
  const signal = (name: NodeJS.Signals): void => void child?.kill(name)
  const failure = async (): Promise<Error> => {
    const output = await readFile(printed, 'utf8').catch(() => '')
    return new Error(`EventStoreDB does not start on port ${port}:\n${output.split('\n').slice(-20).join('\n')}`)
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
      if (status !== 200) throw new Error(`the node answered the resignation with ${status} ${text}`)
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
      let node = run()
      let ends = 0
      await eventually(async () => {
        // A deposed leader truncates its log and ends. After another start it works.
        if (node.exitCode !== null && (ends += 1) <= MAX_ENDS) node = run()
        if (node.exitCode === null && (await state()) === null) throw await failure()
      }, { timeoutMs: START_MS })
      if (node.exitCode !== null) throw await failure()
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
