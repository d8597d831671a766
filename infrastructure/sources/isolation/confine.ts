import { readdirSync } from 'node:fs'
import koffi from 'koffi'
import { type Architecture, architectureOf, withoutIoUring, withoutNewResources } from './seccomp-filter.ts'

const PR_SET_NO_NEW_PRIVS = 38
const SECCOMP_SET_MODE_FILTER = 1
/** The filter applies to all threads, including running ones. */
const SECCOMP_FILTER_FLAG_TSYNC = 1
const INSTRUCTION_BYTES = 8
const F_SETFD = 2
const FD_CLOEXEC = 1
/** Input, output and error output have smaller numbers. */
const FIRST_OTHER_DESCRIPTOR = 3

/** Opens libc. Needs no privileges. Throws an Error on systems without a filter for system calls. */
const openSystem = () => {
  const architecture = process.platform === 'linux' ? architectureOf(process.arch) : undefined
  if (architecture === undefined) {
    throw new Error(`no filter for system calls on ${process.platform} (${process.arch})`)
  }
  const libc = koffi.load(null)
  const prctl = libc.func('int prctl(int option, ...)')
  const syscall = libc.func('long syscall(long number, ...)')
  const Program = koffi.pointer(koffi.struct({ len: 'uint16_t', filter: 'void *' }))

  const requireSuccess = (call: string, result: unknown): void => {
    if (result !== 0) throw new Error(`${call} returns ${String(result)}, errno ${koffi.errno()}`)
  }
  /** Installs a filter permanently, also for child processes. */
  const install = (filterFor: (architecture: Architecture) => Buffer): void => {
    const filter = filterFor(architecture)
    const program = { len: filter.length / INSTRUCTION_BYTES, filter }
    requireSuccess('prctl', prctl(PR_SET_NO_NEW_PRIVS, 'ulong', 1, 'ulong', 0, 'ulong', 0, 'ulong', 0))
    requireSuccess('seccomp', syscall(
      architecture.seccomp, 'uint', SECCOMP_SET_MODE_FILTER, 'uint', SECCOMP_FILTER_FLAG_TSYNC, Program, program,
    ))
  }
  return { libc, install }
}

/** Blocks io_uring for this process, its children and its successor by execve. Throws an Error when this fails. */
export const refuseIoUring = (): void => {
  openSystem().install(withoutIoUring)
}

/**
 * Makes execve close all descriptors except input, output and error output. A parent can leave a file open for its
 * children: Node itself reads NODE_EXTRA_CA_CERTS through such a descriptor.
 */
export const closeFilesAtExec = (): void => {
  const fcntl = koffi.load(null).func('int fcntl(int descriptor, int command, ...)')
  const descriptors = readdirSync('/proc/self/fd').map(Number)
  for (const descriptor of descriptors.filter((number) => number >= FIRST_OTHER_DESCRIPTOR))
    fcntl(descriptor, F_SETFD, 'int', FD_CLOEXEC)
}

/**
 * Permanently prevents this process with all its threads from opening files or sockets and from starting processes.
 * Call it when all code is loaded, in a program that started without io_uring. Throws an Error when this fails. Returns
 * a function that ends the process at once, because Node's own exit would read files.
 */
export const confine = (): ((code: number) => void) => {
  const { libc, install } = openSystem()
  const exit = libc.func('void _exit(int status)')
  install((architecture) => withoutNewResources(architecture, process.pid))
  return (code) => {
    exit(code)
  }
}
