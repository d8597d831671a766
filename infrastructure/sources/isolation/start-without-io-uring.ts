/**
 * `node start-without-io-uring.ts FILE ARG…` becomes the program FILE, without io_uring and without inherited files. If
 * this fails, it ends with exit code 3.
 */
import { NOT_ISOLATED_EXIT_CODE } from './exit-code.ts'

const [file = '', ...args] = process.argv.slice(2)
try {
  const { closeFilesAtExec, refuseIoUring } = await import('./confine.ts')
  refuseIoUring()
  closeFilesAtExec()
  process.execve?.(file, [file, ...args], process.env)
  throw new Error('this version of Node has no process.execve')
} catch (error) {
  process.stderr.write(`refused ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = NOT_ISOLATED_EXIT_CODE
}
