import { chmodSync, existsSync, writeFileSync } from 'node:fs'

const PRIVATE = 0o077

/** Loading this module makes the new files of the process private: they contain keys, texts and personal data. */
const usersUmask = process.umask(PRIVATE)

/** Writes a file that the user asked for. Who may read it follows from the umask with which the process was started. */
export const writeUsersFile = (file: string, content: string): void => {
  const isNew = !existsSync(file)
  writeFileSync(file, content)
  if (isNew) chmodSync(file, 0o666 & ~usersUmask)
}
