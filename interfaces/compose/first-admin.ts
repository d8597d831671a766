import { readFile } from 'node:fs/promises'
import { messageOf } from '../../domain/shared/message-of.ts'
import { passwordProblem } from '../../domain/user/credential-rules.ts'
import type { Settings } from '../../infrastructure/settings.ts'

const readPassword = async (file: string): Promise<string> => {
  try {
    return (await readFile(file, 'utf8')).trimEnd()
  } catch (error) {
    throw new Error(`STENOLOG_ADMIN_PASSWORD_FILE cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** Returns the password of the first administrator. Throws if it is too weak, for example if the file is empty. */
export const adminPassword = async ({ adminPassword: given, adminPasswordFile }: Settings): Promise<string> => {
  const password = given ?? (adminPasswordFile === null ? '' : await readPassword(adminPasswordFile))
  const problem = passwordProblem(password)
  if (problem !== null) throw new Error(`the password of the first administrator ${problem}`)
  return password
}
