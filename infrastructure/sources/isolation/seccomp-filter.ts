/** A processor architecture: its name in filters, and its system call numbers. */
export interface Architecture {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly audit: number
  readonly seccomp: number
  readonly ioUringSetup: number
  readonly clone: number
  readonly clone3: number
  readonly kill: number
  readonly tgkill: number
  /** System calls that a decoder needs after loading its code. */
  readonly allowed: ReadonlyArray<number>
}

/**
 * System calls that only use resources of the process: its memory, threads, clocks and open descriptors. They cannot
 * open or reach anything else. Numbers for x86-64 and arm64; null: arm64 does not have the call.
 */
const ALLOWED: Readonly<Record<string, readonly [x64: number, arm64: number | null]>> = {
  read: [0, 63], readv: [19, 65], write: [1, 64], writev: [20, 66], close: [3, 57],
  epoll_wait: [232, null], epoll_pwait: [281, 22], epoll_pwait2: [441, 441], epoll_ctl: [233, 21], poll: [7, null],
  ppoll: [271, 73],
  mmap: [9, 222], munmap: [11, 215], mremap: [25, 216], mprotect: [10, 226], pkey_mprotect: [329, 288],
  madvise: [28, 233], brk: [12, 214],
  futex: [202, 98], set_robust_list: [273, 99], rseq: [334, 293], sched_yield: [24, 124], sched_getaffinity: [204, 123],
  membarrier: [324, 283],
  rt_sigaction: [13, 134], rt_sigprocmask: [14, 135], rt_sigreturn: [15, 139], sigaltstack: [131, 132],
  restart_syscall: [219, 128],
  getpid: [39, 172], gettid: [186, 178], getrandom: [318, 278], getrusage: [98, 165],
  clock_gettime: [228, 113], clock_getres: [229, 114], clock_nanosleep: [230, 115], nanosleep: [35, 101],
  gettimeofday: [96, 169], time: [201, null],
  exit: [60, 93], exit_group: [231, 94],
}

const numbers = (column: 0 | 1): ReadonlyArray<number> =>
  Object.values(ALLOWED).flatMap((row) => row[column] ?? [])

/** Architectures by their name in Node. */
const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e, allowed: numbers(0),
    seccomp: 317, ioUringSetup: 425, clone: 56, clone3: 435, kill: 62, tgkill: 234,
  },
  arm64: {
    audit: 0xc00000b7, allowed: numbers(1),
    seccomp: 277, ioUringSetup: 425, clone: 220, clone3: 435, kill: 129, tgkill: 131,
  },
}

export const architectureOf = (name: string): Architecture | undefined => ARCHITECTURES[name]

/** Results of a filter: the call is allowed, it fails with an errno, or the process is killed. */
const ALLOW = 0x7fff0000
const FAIL = 0x00050000
const KILL_PROCESS = 0x80000000
const EPERM = 1
const ENOSYS = 38

/** Creates a thread of this process; without new namespaces. */
const CLONE_THREAD = 0x00010000
const CLONE_NEW_NAMESPACES = 0x7e020000
const WHOLE_WORD = 0xffffffff

/** One instruction of classic BPF: struct sock_filter of linux/filter.h. */
const instruction = (code: number, k: number, [whenTrue, whenFalse] = [0, 0]): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(whenTrue ?? 0, 2)
  bytes.writeUInt8(whenFalse ?? 0, 3)
  bytes.writeUInt32LE(k, 4)
  return bytes
}

/** Loads a word of struct seccomp_data. Offsets: 0 call number, 4 architecture, 16 first argument. */
const load = (offset: number): Buffer => instruction(0x20, offset)
const and = (mask: number): Buffer => instruction(0x54, mask)
const answer = (action: number): Buffer => instruction(0x06, action)
/** Skips `count` instructions unless the loaded word equals `value`. */
const skipUnless = (value: number, count: number): Buffer => instruction(0x15, value, [0, count])
/** Skips `count` instructions if the loaded word equals `value`. */
const skipIf = (value: number, count: number): Buffer => instruction(0x15, value, [count, 0])

const answerFor = (call: number, action: number): ReadonlyArray<Buffer> => [skipUnless(call, 1), answer(action)]

/** Allows the call if its first argument, under the mask, equals `value`. */
const allowedFor = (call: number, mask: number, value: number): ReadonlyArray<Buffer> => [
  skipUnless(call, 5), load(16), and(mask), skipUnless(value, 1), answer(ALLOW), answer(FAIL | EPERM),
]

/** Builds struct sock_filter[]. Kills a process that uses another ABI, because its calls have different numbers. */
const filter = ({ audit }: Architecture, rules: ReadonlyArray<Buffer>, otherwise: number): Buffer =>
  Buffer.concat([load(4), skipIf(audit, 1), answer(KILL_PROCESS), load(0), ...rules, answer(otherwise)])

/**
 * Allows everything except io_uring, for a program before its start. io_uring performs operations without system calls,
 * so a later filter could not block them. libuv works without it.
 */
export const withoutIoUring = (architecture: Architecture): Buffer =>
  filter(architecture, answerFor(architecture.ioUringSetup, FAIL | ENOSYS), ALLOW)

/**
 * Blocks all new resources, for a program that has loaded its code: files, sockets, programs and other processes. The
 * program may signal only `pid`. Every call that is not listed fails with EPERM, including calls of future kernels.
 */
export const withoutNewResources = (architecture: Architecture, pid: number): Buffer => {
  const { allowed, clone, clone3, kill, tgkill } = architecture
  const rules = [
    ...allowed.flatMap((call) => answerFor(call, ALLOW)),
    ...allowedFor(clone, CLONE_THREAD | CLONE_NEW_NAMESPACES, CLONE_THREAD),
    // The flags of clone3 are in memory, which a filter cannot read. C libraries then fall back to clone.
    ...answerFor(clone3, FAIL | ENOSYS),
    ...allowedFor(kill, WHOLE_WORD, pid),
    ...allowedFor(tgkill, WHOLE_WORD, pid),
  ]
  return filter(architecture, rules, FAIL | EPERM)
}
