import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { messageOf } from '../../domain/shared/message-of.ts'
import { passwordProblem } from '../../domain/user/credential-rules.ts'
import { CommandError } from '../command-error.ts'

const withoutLineEnd = (content: string): string => content.replace(/\r?\n$/, '')

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

const readPasswordFile = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new CommandError(
      error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? `--password-file: there is no file ${file}.`
        : `--password-file: ${file} cannot be read (${messageOf(error)}).`,
    )
  }
}

const readFrom = async (file: string | undefined): Promise<string> => {
  if (file !== undefined) return withoutLineEnd(await readPasswordFile(file))
  return process.stdin.isTTY ? askTwice() : withoutLineEnd(await text(process.stdin))
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
