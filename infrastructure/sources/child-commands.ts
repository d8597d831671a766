import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** Heap, thread stacks and buffers of one child, bytes; a bomb ends its own live and nobody else's (S8). */
const MEMORY_LIMIT = 1 << 30
const HEAP_MB = 96

const ROOT = join(import.meta.dirname, '..', '..')

export interface ChildCommand {
  readonly file: string
  readonly args: ReadonlyArray<string>
}

const tool = (name: string): string | undefined => ['/usr/bin', '/bin', '/usr/sbin', '/sbin'].map((folder) => join(folder, name)).find(existsSync)

const succeeds = (command: ReadonlyArray<string>): boolean => {
  const [file = '', ...args] = command
  return spawnSync(file, args, { stdio: 'ignore', env: {} }).status === 0
}

/** A prefix that the system has and lets us use, else nothing. */
const usable = (prefix: ReadonlyArray<string>): ReadonlyArray<string> =>
  prefix.length > 0 && succeeds([...prefix, tool('true') ?? 'true']) ? prefix : []

let limits: ReadonlyArray<string> | undefined

/** util-linux: a limit on memory, and death with whoever started it, also while it is stopped and also by kill -9. */
const limiting = (): ReadonlyArray<string> => {
  const [prlimit, setpriv] = [tool('prlimit'), tool('setpriv')]
  limits ??= [
    ...usable(prlimit === undefined ? [] : [prlimit, `--data=${MEMORY_LIMIT}`, '--']),
    ...usable(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']),
  ]
  return limits
}

/** A namespace of its own without any network, not even loopback. */
const withoutNetwork = (): ReadonlyArray<string> => {
  const unshare = tool('unshare')
  return unshare === undefined ? [] : [unshare, '--map-root-user', '--net', '--']
}

/** Does this system let us start a process without network? */
export const canIsolate = (): boolean => usable(withoutNetwork()).length > 0

const commandOf = (prefix: ReadonlyArray<string>, script: string, flags: ReadonlyArray<string>, words: ReadonlyArray<string> = []): ChildCommand => {
  const [file, ...args] = [...prefix, process.execPath, `--max-old-space-size=${HEAP_MB}`, ...flags, join(import.meta.dirname, script), ...words]
  return { file: file ?? process.execPath, args }
}

export const pullerCommand = (): ChildCommand => commandOf(limiting(), 'puller/puller-process.ts', [])

/** The code that Node lets the decoder read; the data directory is not among it. */
const readable = (): ReadonlyArray<string> => {
  const modules = join(ROOT, 'node_modules')
  const places = [join(ROOT, 'application'), join(ROOT, 'infrastructure'), join(ROOT, 'package.json'), modules, realpathSync(modules)]
  return places.map((place) => `--allow-fs-read=${place}`)
}

/** The namespace comes first: entering it forgets the wish to die with the parent. */
export const decoderCommand = (isolate: boolean, stream: boolean): ChildCommand =>
  commandOf([...(isolate ? withoutNetwork() : []), ...limiting()], 'decoder/decoder-process.ts', ['--permission', '--allow-addons', ...readable()], stream ? ['stream'] : [])
