/**
 * `node deny-seccomp.ts FILE ARG…` runs the program FILE with a filter that refuses seccomp(2), as some container
 * engines and service managers do. The program and its children inherit the filter.
 */
import koffi from 'koffi'

const SECCOMP = process.arch === 'arm64' ? 277 : 317
const libc = koffi.load(null)
const Program = koffi.pointer(koffi.struct({ len: 'uint16_t', filter: 'void *' }))

/** The BPF program: load the number of the system call; for seccomp return EPERM, else allow the call. */
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
const program = { len: PROGRAM.length, filter }
const result = libc.func('long syscall(long number, ...)')(SECCOMP, 'uint', 1, 'uint', 1, Program, program)
if (result !== 0) throw new Error(`the filter was not installed: errno ${koffi.errno()}`)

const [file = '', ...args] = process.argv.slice(2)
process.execve?.(file, [file, ...args], process.env)
