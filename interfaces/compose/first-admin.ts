import * as E from 'fp-ts/lib/Either.js'
import { passwordProblem } from '../../domain/user/credential-rules.ts'
import { readPasswordFile } from '../../infrastructure/keys/secret-file.ts'
import type { Settings } from '../../infrastructure/settings.ts'

const readPassword = async (file: string): Promise<string> => {
  const password = await readPasswordFile(file)
  if (E.isLeft(password)) throw new Error(`STENOLOG_ADMIN_PASSWORD_FILE: ${password.left}`)
  return password.right
}

/** Returns the password of the first administrator. Throws if it is too weak, for example if the file is empty. */
export const adminPassword = async ({ adminPassword: given, adminPasswordFile }: Settings): Promise<string> => {
  const password = given ?? (adminPasswordFile === null ? '' : await readPassword(adminPasswordFile))
  const problem = passwordProblem(password)
  if (problem !== null) throw new Error(`the password of the first administrator ${problem}`)
  return password
}
