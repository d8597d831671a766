/** One kind of processor: its name in filters, and its numbers of system calls. */
export interface Architecture {
  /** AUDIT_ARCH_* of linux/audit.h. */
  readonly audit: number
  readonly seccomp: number
  readonly ioUringSetup: number
  readonly clone: number
  readonly clone3: number
  readonly kill: number
  readonly tgkill: number
  /** What a decoder needs once all its code is loaded. */
  readonly allowed: ReadonlyArray<number>
}

/**
 * System calls that act on nothing but what the process already holds: its memory, its threads, its clocks and its open
 * descriptors. None of them opens, names or reaches anything. The numbers are those of x86-64 and of arm64, null where
 * that has no such call.
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

const numbers = (column: 0 | 1): ReadonlyArray<number> => Object.values(ALLOWED).flatMap((row) => row[column] ?? [])

/** By Node's name of the processor. */
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

/** What a filter answers: the call is made, it fails with an errno, or the process ends. */
const ALLOW = 0x7fff0000
const FAIL = 0x00050000
const KILL_PROCESS = 0x80000000
const EPERM = 1
const ENOSYS = 38

/** A thread of this process, and no namespace of its own. */
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

/** Loads a word of struct seccomp_data: at 0 the call's number, at 4 the architecture, at 16 the first argument. */
const load = (offset: number): Buffer => instruction(0x20, offset)
const and = (mask: number): Buffer => instruction(0x54, mask)
const answer = (action: number): Buffer => instruction(0x06, action)
/** Leaves out so many instructions when the loaded word is, or is not, `value`. */
const unlessEqual = (value: number, leaveOut: number): Buffer => instruction(0x15, value, [0, leaveOut])
const whenEqual = (value: number, leaveOut: number): Buffer => instruction(0x15, value, [leaveOut, 0])

const answerFor = (call: number, action: number): ReadonlyArray<Buffer> => [unlessEqual(call, 1), answer(action)]

/** Allowed while the first argument, under a mask, is a value. */
const allowedFor = (call: number, mask: number, value: number): ReadonlyArray<Buffer> => [
  unlessEqual(call, 5), load(16), and(mask), unlessEqual(value, 1), answer(ALLOW), answer(FAIL | EPERM),
]

/** struct sock_filter[]: under another ABI of the processor calls have other numbers, so they end the process. */
const filter = ({ audit }: Architecture, rules: ReadonlyArray<Buffer>, otherwise: number): Buffer =>
  Buffer.concat([load(4), whenEqual(audit, 1), answer(KILL_PROCESS), load(0), ...rules, answer(otherwise)])

/**
 * For a program that is yet to start: everything but io_uring, which does what system calls do without their being
 * made, so that no later filter sees it. libuv does without.
 */
export const withoutIoUring = (architecture: Architecture): Buffer =>
  filter(architecture, answerFor(architecture.ioUringSetup, FAIL | ENOSYS), ALLOW)

/**
 * For a program whose code is loaded: it can use what it has and get nothing new, no file, no socket, no program, no
 * other process. `pid` is the only one that it may signal. Every call that is not named here fails with EPERM, also
 * those that kernels do not have yet.
 */
export const withoutAnythingNew = (architecture: Architecture, pid: number): Buffer => {
  const { allowed, clone, clone3, kill, tgkill } = architecture
  const rules = [
    ...allowed.flatMap((call) => answerFor(call, ALLOW)),
    ...allowedFor(clone, CLONE_THREAD | CLONE_NEW_NAMESPACES, CLONE_THREAD),
    // Its flags lie in memory, where no filter sees them; C libraries then take clone.
    ...answerFor(clone3, FAIL | ENOSYS),
    ...allowedFor(kill, WHOLE_WORD, pid),
    ...allowedFor(tgkill, WHOLE_WORD, pid),
  ]
  return filter(architecture, rules, FAIL | EPERM)
}
