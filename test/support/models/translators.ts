import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

/** A translator of some kilobytes with random weights: quick, and its text means nothing. */
export const TINY_MARIAN = 'test/support/fixtures/engine/tiny-marian'

/** Writes members into one of a model folder's JSON files. */
export const changeJson = async (folder: string, file: string, members: Readonly<Record<string, unknown>>): Promise<void> => {
  const path = join(folder, file)
  await writeFile(path, JSON.stringify({ ...(JSON.parse(await readFile(path, 'utf8')) as object), ...members }))
}

/** A models directory that ends with the test; each name is a folder's, and says (`opus-mt-en-es`) what it translates. */
export const installTranslators = async (t: Pick<ExecutionContext, 'teardown'>, ...names: ReadonlyArray<string>): Promise<string> => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  for (const name of names) await cp(TINY_MARIAN, join(directory.path, name), { recursive: true })
  return directory.path
}
