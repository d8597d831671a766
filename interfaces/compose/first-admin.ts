import { readFile } from 'node:fs/promises'
import { passwordProblem } from '../../domain/user/credential-rules.ts'
import type { Settings } from '../../infrastructure/settings.ts'

/** Returns the password of the first administrator. Throws if it is too weak, for example if the file is empty. */
export const adminPassword = async ({ adminPassword: given, adminPasswordFile }: Settings): Promise<string> => {
  const password = given ?? (adminPasswordFile === null ? '' : (await readFile(adminPasswordFile, 'utf8')).trimEnd())
  const problem = passwordProblem(password)
  if (problem !== null) throw new Error(`the password of the first administrator ${problem}`)
  return password
}
