import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** Limit for heap, stacks and buffers of one child, so a malicious source ends only its own session. */
const MEMORY_LIMIT_BYTES = 1 << 30
const HEAP_MB = 96

const ROOT = join(import.meta.dirname, '..', '..')
const TOOL_FOLDERS = ['/usr/bin', '/bin', '/usr/sbin', '/sbin']

export interface ChildCommand {
  readonly file: string
  readonly args: ReadonlyArray<string>
}

const tool = (name: string): string | undefined => TOOL_FOLDERS.map((folder) => join(folder, name)).find(existsSync)

const succeeds = (command: ReadonlyArray<string>): boolean => {
  const [file = '', ...args] = command
  return spawnSync(file, args, { stdio: 'ignore', env: {} }).status === 0
}

/** Returns a command prefix if it works on this system, otherwise an empty list. */
const ifUsable = (prefix: ReadonlyArray<string>): ReadonlyArray<string> =>
  prefix.length > 0 && succeeds([...prefix, tool('true') ?? 'true']) ? prefix : []

let limits: ReadonlyArray<string> | undefined

/**
 * Returns a prefix with tools of util-linux. They limit the memory of a child. They also kill the child when its parent
 * dies, even if the child is stopped or the parent dies by kill -9.
 */
const limitingPrefix = (): ReadonlyArray<string> => {
  const [prlimit, setpriv] = [tool('prlimit'), tool('setpriv')]
  limits ??= [
    ...ifUsable(prlimit === undefined ? [] : [prlimit, `--data=${MEMORY_LIMIT_BYTES}`, '--']),
    ...ifUsable(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']),
  ]
  return limits
}

const modules = join(ROOT, 'node_modules')

/** Paths that Node's permission model lets a child read. The data directory is excluded. */
const CODE = [
  ...['application', 'domain', 'infrastructure', 'package.json'].map((name) => join(ROOT, name)), modules,
]

const readPermissions = (...paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...CODE, realpathSync(modules), ...paths].map((path) => `--allow-fs-read=${path}`)

/** Runs our script under Node's permission model, which restricts JavaScript but not native code. */
const programOf = (script: string, ...flags: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath, '--no-warnings', `--max-old-space-size=${HEAP_MB}`, '--permission', ...flags,
  join(import.meta.dirname, script),
]

const commandOf = (...words: ReadonlyArray<string>): ChildCommand => {
  const [file = process.execPath, ...args] = words
  return { file, args }
}

export const pullerCommand = (): ChildCommand => {
  const puller = programOf('puller/puller-process.ts', '--allow-child-process', ...readPermissions(...TOOL_FOLDERS))
  return commandOf(...limitingPrefix(), ...puller)
}

const WITHOUT_IO_URING = join(import.meta.dirname, 'isolation', 'start-without-io-uring.ts')

/**
 * `isolate`: the decoder cannot open files or sockets after loading its code; if this is impossible, it does not run.
 * `stream`: we make the container ourselves, so its header describes the audio and needs no long probing.
 */
export const decoderCommand = (isolate: boolean, stream: boolean): ChildCommand => {
  const launcher = isolate ? [process.execPath, '--no-warnings', WITHOUT_IO_URING] : []
  const decoder = programOf('decoder/decoder-process.ts', '--allow-addons', ...readPermissions(process.execPath))
  const words = [...(isolate ? ['isolated'] : []), ...(stream ? ['stream'] : [])]
  return commandOf(...limitingPrefix(), ...launcher, ...decoder, ...words)
}
