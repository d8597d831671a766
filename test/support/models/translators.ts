import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'
import { temporaryDirectory } from '../tools/temporary-directory.ts'

/** A tiny translator with random weights: fast, but its texts are meaningless. */
export const TINY_MARIAN = 'test/support/fixtures/engine/tiny-marian'

/** Changes members of a JSON file in a model folder. */
export const changeJson = async (
  folder: string,
  file: string,
  members: Readonly<Record<string, unknown>>,
): Promise<void> => {
  const path = join(folder, file)
  await writeFile(path, JSON.stringify({ ...(JSON.parse(await readFile(path, 'utf8')) as object), ...members }))
}

/**
 * Creates a models directory with tiny translators and removes it after the test. The name of a translator
 * (`opus-mt-en-es`) contains its two languages.
 */
export const installTranslators = async (
  t: Pick<ExecutionContext, 'teardown'>,
  ...names: ReadonlyArray<string>
): Promise<string> => {
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  for (const name of names) await cp(TINY_MARIAN, join(directory.path, name), { recursive: true })
  return directory.path
}
