import * as E from 'fp-ts/lib/Either.js'
import { acquireDataDirectory } from '../../../infrastructure/sqlite/data-directory.ts'

/**
 * A process that takes the directory of its first argument, says `held` or `in use`, and stays until its input ends.
 * It keeps no reference to what it took and collects garbage, which must not give the directory back (--expose-gc).
 */
const said = E.isRight(acquireDataDirectory(process.argv[2] ?? '')) ? 'held\n' : 'in use\n'
setImmediate(() => {
  globalThis.gc?.()
  // The second collection finalizes what the first one freed.
  setImmediate(() => {
    globalThis.gc?.()
    process.stdout.write(said)
  })
})
process.stdin.resume()
