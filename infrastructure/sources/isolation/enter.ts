/** `node enter.ts FILE ARG…`: the program FILE without io_uring; exit code 3 where that is not to be had. */
import { REFUSED } from './refused.ts'

const [file = '', ...args] = process.argv.slice(2)
try {
  const { refuseIoUring } = await import('./confine.ts')
  refuseIoUring()
  process.execve?.(file, [file, ...args], process.env)
  throw new Error('this Node cannot become another program')
} catch (error) {
  process.stderr.write(`refused ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = REFUSED
}
