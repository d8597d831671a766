import * as E from 'fp-ts/lib/Either.js'
import { acquireDataDirectory } from '../../infrastructure/data-directory.ts'

/** A process that takes the directory of its first argument, says `held` or `in use`, and stays until its input ends. */
process.stdout.write(E.isRight(acquireDataDirectory(process.argv[2] ?? '')) ? 'held\n' : 'in use\n')
process.stdin.resume()
