import { spawnSync } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'

/** Heap, thread stacks and buffers of one child, bytes; a bomb ends its own live and nobody else’s. */
const MEMORY_LIMIT = 1 << 30
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

const modules = join(ROOT, 'node_modules')

/** The code that Node lets a child read; the data directory is not among it. */
const CODE = [join(ROOT, 'application'), join(ROOT, 'infrastructure'), join(ROOT, 'package.json'), modules]

const reading = (...places: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...CODE, realpathSync(modules), ...places].map((place) => `--allow-fs-read=${place}`)

/** A program of ours under Node's permission model, which binds JavaScript and not native code. */
const programOf = (script: string, ...flags: ReadonlyArray<string>): ReadonlyArray<string> => [
  process.execPath, '--no-warnings', `--max-old-space-size=${HEAP_MB}`, '--permission', ...flags,
  join(import.meta.dirname, script),
]

const commandOf = (...words: ReadonlyArray<string>): ChildCommand => {
  const [file = process.execPath, ...args] = words
  return { file, args }
}

export const pullerCommand = (): ChildCommand => {
  const puller = programOf('puller/puller-process.ts', '--allow-child-process', ...reading(...TOOL_FOLDERS))
  return commandOf(...limiting(), ...puller)
}

/**
 * `isolate`: it can open nothing once its code is loaded, or it does not run. `stream`: its container says at once what
 * it holds.
 */
export const decoderCommand = (isolate: boolean, stream: boolean): ChildCommand => {
  const enter = isolate ? [process.execPath, '--no-warnings', join(import.meta.dirname, 'isolation', 'enter.ts')] : []
  const decoder = programOf('decoder/decoder-process.ts', '--allow-addons', ...reading(process.execPath))
  return commandOf(...limiting(), ...enter, ...decoder, ...(isolate ? ['isolated'] : []), ...(stream ? ['stream'] : []))
}
