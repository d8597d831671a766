import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import * as E from 'fp-ts/lib/Either.js'
import { passwordProblem } from '../../domain/user/credential-rules.ts'
import { passwordIn, readPasswordFile } from '../../infrastructure/keys/secret-file.ts'
import { CommandError } from '../command-error.ts'

/** Asks for the password at the terminal without showing it, until both entries are equal. */
const askTwice = async (): Promise<string> => {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true })
  const ask = async (label: string): Promise<string> => {
    process.stderr.write(label)
    const answer = await prompt.question('')
    process.stderr.write('\n')
    return answer
  }
  try {
    for (;;) {
      const password = await ask('Password: ')
      if ((await ask('Password again: ')) === password) return password
      process.stderr.write('The passwords differ. Try again.\n')
    }
  } finally {
    prompt.close()
  }
}

const fromInput = async (): Promise<string> => {
  const password = passwordIn(await buffer(process.stdin))
  if (E.isLeft(password)) throw new CommandError(`The password ${password.left}.`)
  return password.right
}

const fromFile = async (file: string): Promise<string> => {
  const password = await readPasswordFile(file)
  if (E.isLeft(password)) throw new CommandError(`--password-file: ${password.left}.`)
  return password.right
}

const readFrom = (file: string | undefined): Promise<string> => {
  if (file !== undefined) return fromFile(file)
  return process.stdin.isTTY ? askTwice() : fromInput()
}

/**
 * Reads a password from a file, the terminal or standard input. Arguments are not an option: other users of the machine
 * can read them. Throws a CommandError for a missing file and for an invalid password.
 */
export const readPassword = async (file: string | undefined): Promise<string> => {
  const password = await readFrom(file)
  const problem = passwordProblem(password)
  if (problem !== null) throw new CommandError(`The password ${problem.replace('should have', 'needs')}.`)
  return password
}
