import { readFile } from 'node:fs/promises'
import { passwordProblem } from '../../domain/user/credential-rules.ts'
import type { Settings } from '../../infrastructure/settings.ts'

/** The password of the first admin. Throws an Error where POST /users/ would refuse it too: above all an empty file must not open the door. */
export const adminPassword = async ({ adminPassword: given, adminPasswordFile }: Settings): Promise<string> => {
  const password = given ?? (adminPasswordFile === null ? '' : (await readFile(adminPasswordFile, 'utf8')).trimEnd())
  const problem = passwordProblem(password)
  if (problem !== null) throw new Error(`the password of the first admin ${problem}`)
  return password
}
