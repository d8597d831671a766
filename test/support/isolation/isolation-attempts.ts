/**
 * Loaded into a decoder process before its own code (`node --import`). When the decoder passes its first bytes to
 * FFmpeg, this module attempts everything that a decoder must not be able to do. It prints the outcomes to standard
 * error and ends the process. A decoder has no environment variables, so the URL of this module contains the targets.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { AVIO_FLAG_READ } from 'node-av/constants'
import { FormatContext, IOContext } from 'node-av/lib'
import koffi from 'koffi'

const { searchParams } = new URL(import.meta.url)
const target = (name: string): string => searchParams.get(name) ?? ''
const [file, port, otherPid, addon] = [target('file'), target('port'), target('otherPid'), target('addon')]

// Starts the threads of the pool before the process is confined, because FFmpeg reads on them.
await promisify(randomBytes)(1)

const libc = koffi.load(null)
const syscall = libc.func('long syscall(long number, ...)')

/** Numbers of system calls; null: not on arm64. The arguments of the attempts do no harm if a call is allowed. */
const CALLS: Readonly<Record<string, readonly [x64: number, arm64: number | null]>> = {
  open: [2, null], openat: [257, 56], openat2: [437, 437], creat: [85, null], memfd_create: [319, 279],
  execve: [59, 221], execveat: [322, 281],
  fork: [57, null], vfork: [58, null], socket: [41, 198], socketpair: [53, 199], connect: [42, 203], bind: [49, 200],
  sendto: [44, 206], sendmsg: [46, 211],
  recvmsg: [47, 212], ptrace: [101, 117], process_vm_readv: [310, 270], process_vm_writev: [311, 271],
  pidfd_open: [434, 434], pidfd_getfd: [438, 438],
  pidfd_send_signal: [424, 424], tkill: [200, 130], io_uring_setup: [425, 425], io_uring_enter: [426, 426],
  io_uring_register: [427, 427], stat: [4, null],
  newfstatat: [262, 79], statx: [332, 291], readlinkat: [267, 78], getdents64: [217, 61], unlinkat: [263, 35],
  renameat2: [316, 276], linkat: [265, 37],
  mount: [165, 40], unshare: [272, 97], setns: [308, 268], chroot: [161, 51], open_by_handle_at: [304, 265],
  bpf: [321, 280], perf_event_open: [298, 241],
  userfaultfd: [323, 282], keyctl: [250, 219], add_key: [248, 217], shmget: [29, 194], shmat: [30, 196],
  mq_open: [180, 180], inotify_init1: [294, 26],
  fcntl: [72, 25], ioctl: [16, 29], dup: [32, 23], prlimit64: [302, 261], setuid: [105, 146],
  sched_setaffinity: [203, 122], a_call_of_the_future: [1023, 1023],
}

/** Makes the call with descriptor -1 and null pointers. Returns its errno; 0 when it succeeded. */
const errnoOf = (name: string): number => {
  const number = CALLS[name]?.[process.arch === 'arm64' ? 1 : 0]
  if (number === undefined || number === null) return 1
  const result = Number(syscall(number, 'long', -1, 'long', 0, 'long', 0, 'long', 0, 'long', 0, 'long', 0))
  return result < 0 ? koffi.errno() : 0
}

/** Flags of clone: a process, a thread in its own network namespace, a thread (with flags that Linux rejects). */
const CLONES: Readonly<Record<string, number>> = { 'a process': 17, 'a namespace': 0x40010000, 'a thread': 0x00010000 }

const errnoOfClone = (flags: number): number => {
  const number = process.arch === 'arm64' ? 220 : 56
  const result = Number(syscall(number, 'ulong', flags, 'long', 0, 'long', 0, 'long', 0, 'long', 0))
  return result < 0 ? koffi.errno() : 0
}

const readBy = async (url: string): Promise<string> => {
  const io = new IOContext()
  const code = await io.open2(url, AVIO_FLAG_READ)
  if (code < 0) throw new Error(`avio ${code}`)
  const bytes = await io.read(32)
  return Buffer.isBuffer(bytes) ? bytes.toString('latin1') : `code ${bytes}`
}

const openSync = (url: string): string => {
  const code = new IOContext().open2Sync(url, AVIO_FLAG_READ)
  if (code < 0) throw new Error(`avio ${code}`)
  return 'opened'
}

const ATTEMPTS: Readonly<Record<string, () => unknown>> = {
  'FFmpeg reads the key': () => readBy(`file:${file}`),
  'FFmpeg reads the key on the main thread': () => openSync(`file:${file}`),
  'FFmpeg reads the key by its bare path': () => readBy(file),
  'FFmpeg reads a part of the key': () => readBy(`subfile,,start,0,end,6,,:${file}`),
  'FFmpeg reads the key twice in a row': () => readBy(`concat:${file}|${file}`),
  'FFmpeg reads its own command line': () => readBy('file:/proc/self/cmdline'),
  'FFmpeg connects': () => readBy(`tcp://127.0.0.1:${port}`),
  'FFmpeg opens a socket for datagrams': () => openSync(`udp://127.0.0.1:${port}`),
  'Node reads the key': () => readFileSync(file, 'latin1'),
  'Node connects': async () => {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
  },
  'Node starts a program': () => {
    const { error } = spawnSync('/bin/true')
    if (error !== undefined) throw error
  },
  'Node loads a library': () => process.dlopen({ exports: {} }, addon),
  'a call signals another process of the user': () => {
    const kill = libc.func('int kill(int pid, int signal)')
    if (kill(Number(otherPid), 0) !== 0) throw new Error(`errno ${koffi.errno()}`)
  },
}

const attempt = async (run: () => unknown): Promise<string> => {
  try {
    return `done: ${String(await run())}`
  } catch (error) {
    return `failed: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The outcome of each attempt and the errno of each system call, by name. */
export interface Attempted {
  readonly outcomes: Readonly<Record<string, string>>
  readonly errnos: Readonly<Record<string, number>>
  /** Null in an unconfined process, where a clone would succeed and repeat the attempts. */
  readonly clones: Readonly<Record<string, number>> | null
}

FormatContext.prototype.openInput = async () => {
  const outcomes: Record<string, string> = {}
  for (const [name, run] of Object.entries(ATTEMPTS)) outcomes[name] = await attempt(run)
  // In an unconfined process a fork would succeed and repeat the attempts.
  const isConfined = errnoOf('openat') === 1
  const calls = Object.keys(CALLS).filter((name) => isConfined || !['fork', 'vfork'].includes(name))
  const tried = Object.entries(CLONES).map(([name, flags]) => [name, isConfined ? errnoOfClone(flags) : 0] as const)
  const clones = isConfined ? Object.fromEntries(tried) : null
  const errnos = Object.fromEntries(calls.map((name) => [name, errnoOf(name)]))
  const attempted: Attempted = { outcomes, errnos, clones }
  process.stderr.write(`attempted ${JSON.stringify(attempted)}\n`)
  process.kill(process.pid, 'SIGKILL')
  return 0
}
