import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHILD_ENVIRONMENT } from '../tools/child-environment.ts'
import { ask, requestOf, type RawAnswer } from './raw-http.ts'

export const ROOT = { username: 'root', password: 'correct horse battery staple' }

/** A service that probes see from outside: its address, its output and its answers. */
export interface Subject {
  readonly url: string
  readonly output: () => string
  /** Sends a JSON request. */
  readonly json: (method: string, path: string, options?: JsonOptions) => Promise<JsonAnswer>
  readonly raw: (request: string, from?: string) => Promise<RawAnswer>
  readonly logIn: (account: { readonly username: string; readonly password: string }) => Promise<string>
  readonly stop: () => Promise<void>
}

export interface JsonOptions {
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface JsonAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Readonly<Record<string, unknown>>
}

const jsonOf = (text: string): JsonAnswer['body'] => {
  try {
    return JSON.parse(text) as JsonAnswer['body']
  } catch {
    return {}
  }
}

/** Starts the service of a checkout as `npm start` does. `settings`: with their prefix. */
export const startSubject = async (
  checkout: string,
  settings: Readonly<Record<string, string>>,
  { withAdmin = true } = {},
): Promise<Subject> => {
  const data = await mkdtemp(join(tmpdir(), 'stenolog-black-box-'))
  const admin = withAdmin
    ? { STENOLOG_ADMIN_USERNAME: ROOT.username, STENOLOG_ADMIN_PASSWORD: ROOT.password }
    : {}
  const child = spawn(process.execPath, [join(checkout, 'interfaces', 'main.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...CHILD_ENVIRONMENT, STENOLOG_PORT: '0', STENOLOG_DATA_DIR: data, ...admin, ...settings },
  })
  let output = ''
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const url = await new Promise<string>((resolve, reject) => {
    const onText = (text: string): void => {
      output += text
      const [, found] = /listens on (http:\S+)/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    }
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onText)
    void exited.then(() => reject(new Error(`the service did not start: ${output}`)))
  })
  const json: Subject['json'] = async (method, path, { body, token, headers = {} } = {}) => {
    const authorization: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    const typed: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const text = body === undefined ? '' : JSON.stringify(body)
    const all = { Connection: 'close', ...authorization, ...typed, ...headers }
    const answer = await ask(url, requestOf(method, path, all, text))
    return { status: answer.status, headers: answer.headers, body: jsonOf(answer.body) }
  }
  return {
    url,
    output: () => output,
    json,
    raw: (request, from) => ask(url, request, from),
    logIn: async (account) => {
      const form = new URLSearchParams(account).toString()
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Connection: 'close' }
      const { body } = await ask(url, requestOf('POST', '/login', headers, form))
      return String(jsonOf(body)['access_token'])
    },
    stop: async () => {
      child.kill('SIGKILL')
      await exited
      await rm(data, { recursive: true, force: true })
    },
  }
}
