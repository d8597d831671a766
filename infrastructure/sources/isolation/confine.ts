import koffi from 'koffi'
import { architectureOf, withoutAnythingNew, withoutIoUring } from './seccomp-filter.ts'
import type { Architecture } from './seccomp-filter.ts'

const PR_SET_NO_NEW_PRIVS = 38
const SECCOMP_SET_MODE_FILTER = 1
/** The filter holds for all threads, those that run already among them. */
const SECCOMP_FILTER_FLAG_TSYNC = 1
const BYTES_OF_INSTRUCTION = 8

/** The system, which wants no privileges for any of this; throws an Error where there is no such filter. */
const openSystem = () => {
  const architecture = process.platform === 'linux' ? architectureOf(process.arch) : undefined
  if (architecture === undefined) {
    throw new Error(`no filter of system calls for ${process.platform} on ${process.arch}`)
  }
  const libc = koffi.load(null)
  const prctl = libc.func('int prctl(int option, ...)')
  const syscall = libc.func('long syscall(long number, ...)')
  const Program = koffi.pointer(koffi.struct({ len: 'uint16_t', filter: 'void *' }))

  const done = (name: string, result: unknown): void => {
    if (result !== 0) throw new Error(`${name} gives ${String(result)}, errno ${koffi.errno()}`)
  }
  /** For good, also for what is started from here. */
  const install = (filterFor: (architecture: Architecture) => Buffer): void => {
    const filter = filterFor(architecture)
    const program = { len: filter.length / BYTES_OF_INSTRUCTION, filter }
    done('prctl', prctl(PR_SET_NO_NEW_PRIVS, 'ulong', 1, 'ulong', 0, 'ulong', 0, 'ulong', 0))
    done('seccomp', syscall(
      architecture.seccomp, 'uint', SECCOMP_SET_MODE_FILTER, 'uint', SECCOMP_FILTER_FLAG_TSYNC, Program, program,
    ))
  }
  return { libc, install }
}

/** From here on nothing that this process starts, or becomes, can use io_uring; throws an Error where it could. */
export const refuseIoUring = (): void => {
  openSystem().install(withoutIoUring)
}

/**
 * From here on this process, with all its threads, can open no file and no socket and start nothing, for good. Call it
 * when all code is loaded, in a program that began without io_uring. Throws an Error where that is not to be had.
 * Returns the way out: it ends the process at once, where Node's own end would look at files.
 */
export const confine = (): ((code: number) => void) => {
  const { libc, install } = openSystem()
  const leave = libc.func('void _exit(int status)')
  install((architecture) => withoutAnythingNew(architecture, process.pid))
  return (code) => {
    leave(code)
  }
}
