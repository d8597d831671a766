import { writeSync } from 'node:fs'
import * as E from 'fp-ts/lib/Either.js'
import { acquireDataDirectory } from '../../../infrastructure/sqlite/data-directory.ts'

/**
 * Prints `locking`, takes the data directory of its first argument, prints `held` or `in use`, and runs until its input
 * ends. It waits for the lock for the milliseconds of its second argument.
 * It drops its reference to the lock and collects garbage, which must not release the directory (--expose-gc).
 */
writeSync(1, 'locking\n')
const [directory = '', waitMs = ''] = process.argv.slice(2)
const answer = E.isRight(acquireDataDirectory(directory, Number(waitMs))) ? 'held\n' : 'in use\n'
setImmediate(() => {
  globalThis.gc?.()
  // The second collection finalizes the objects that the first collection freed.
  setImmediate(() => {
    globalThis.gc?.()
    process.stdout.write(answer)
  })
})
process.stdin.resume()
