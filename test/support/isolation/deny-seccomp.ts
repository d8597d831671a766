/**
 * `node refusing-machine.ts FILE ARG…`: the program FILE on a machine whose kernel refuses seccomp(2), as container
 * engines and service managers can have it: a filter of this process, which all that it becomes and starts inherits.
 */
import koffi from 'koffi'

const SECCOMP = process.arch === 'arm64' ? 277 : 317
const libc = koffi.load(null)
const Program = koffi.pointer(koffi.struct({ len: 'uint16_t', filter: 'void *' }))

/** Loads the number of the call, goes on when it is seccomp's, then EPERM; else the call is made. */
const PROGRAM: ReadonlyArray<readonly [code: number, whenTrue: number, whenFalse: number, k: number]> = [
  [0x20, 0, 0, 0], [0x15, 0, 1, SECCOMP], [0x06, 0, 0, 0x00050001], [0x06, 0, 0, 0x7fff0000],
]
const filter = Buffer.alloc(PROGRAM.length * 8)
PROGRAM.forEach(([code, whenTrue, whenFalse, k], index) => {
  filter.writeUInt16LE(code, index * 8)
  filter.writeUInt8(whenTrue, index * 8 + 2)
  filter.writeUInt8(whenFalse, index * 8 + 3)
  filter.writeUInt32LE(k, index * 8 + 4)
})
const zeros = ['ulong', 0, 'ulong', 0, 'ulong', 0]
libc.func('int prctl(int option, ...)')(38, 'ulong', 1, ...zeros)
const given = { len: PROGRAM.length, filter }
const failed = libc.func('long syscall(long number, ...)')(SECCOMP, 'uint', 1, 'uint', 1, Program, given)
if (failed !== 0) throw new Error(`no filter: ${koffi.errno()}`)

const [file = '', ...args] = process.argv.slice(2)
process.execve?.(file, [file, ...args], process.env)
