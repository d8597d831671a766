import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { ExecutionContext } from 'ava'
import { decoderCommand } from '../../../infrastructure/sources/child-commands.ts'
import type { Attempted } from './isolation-attempts.ts'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const ATTEMPTS = join(import.meta.dirname, 'isolation-attempts.ts')
const ONNXRUNTIME = join(ROOT, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6')
const ADDON = join(ONNXRUNTIME, process.platform, process.arch, 'onnxruntime_binding.node')
export const KEY_TEXT = 'the master key'

/** The user and group of a process. Default: those of the test. */
export interface User {
  readonly uid?: number
  readonly gid?: number
}

/** Creates targets that a decoder must not reach: a key file, a process of its user, a port that counts contacts. */
export const startForbiddenPlaces = async (t: ExecutionContext, user: User) => {
  const { path: directory, remove } = await temporaryDirectory()
  t.teardown(remove)
  const file = join(directory, 'master.key')
  await writeFile(file, KEY_TEXT, { mode: 0o600 })
  const { uid, gid } = user
  if (uid !== undefined && gid !== undefined) for (const place of [directory, file]) chownSync(place, uid, gid)
  let contacts = 0
  const server = createServer((socket) => {
    contacts += 1
    socket.on('error', () => undefined).end('hello')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const sleeper = spawn('sleep', ['60'], { ...user, stdio: 'ignore' })
  t.teardown(() => sleeper.kill())
  const { port } = server.address() as AddressInfo
  const places = { file, port: String(port), otherPid: String(sleeper.pid), addon: ADDON }
  return { directory, file, contacts: () => contacts, places }
}

/** Returns whether a word is a flag of Node's permission model. */
export const isPermissionFlag = (word: string): boolean => /^--(?:permission|allow-)/.test(word)

type Places = Readonly<Record<string, string>>

/**
 * Returns the command of a decoder that runs isolation-attempts.ts when it opens its source. Without isolation the
 * decoder also runs without Node's permission model.
 */
export const attemptingCommand = (isolate: boolean, places: Places): ReadonlyArray<string> => {
  const attempts = pathToFileURL(ATTEMPTS)
  for (const [name, value] of Object.entries(places)) attempts.searchParams.set(name, value)
  const { file, args } = decoderCommand(isolate, false)
  const at = args.findIndex((word) => word.endsWith('decoder-process.ts'))
  const words = args.toSpliced(at, 0, `--allow-fs-read=${import.meta.dirname}`, '--import', attempts.href)
  return [file, ...words.filter((word) => isolate || !isPermissionFlag(word))]
}

/** Runs the command and returns the outcomes of its attempts. */
export const runAttempts = async ([file = '', ...args]: ReadonlyArray<string>, user: User): Promise<Attempted> => {
  const child = spawn(file, args, { ...user, stdio: ['pipe', 'ignore', 'pipe'], env: {}, cwd: '/' })
  child.stdin.on('error', () => undefined).end(Buffer.alloc(1000))
  const output = await text(child.stderr)
  const attempted = /^attempted (.*)$/m.exec(output)?.[1]
  if (attempted === undefined) throw new Error(output)
  return JSON.parse(attempted) as Attempted
}

const EPERM = 1
/** With this error Linux rejects the flags of the thread. The error shows that the filter let the call pass. */
const EINVAL = 22

/** Returns the attempts of a confined decoder that did not fail as they must. */
export const escapesOf = ({ outcomes, errnos, clones }: Attempted): ReadonlyArray<unknown> => [
  ...Object.entries(outcomes).filter(([, outcome]) => !outcome.startsWith('failed')),
  ...Object.entries(errnos).filter(([, errno]) => errno !== EPERM),
  ...Object.entries(clones ?? { none: 0 }).filter(([name, errno]) => errno !== (name === 'a thread' ? EINVAL : EPERM)),
]
