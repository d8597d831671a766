import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { type FolderFinding, verifyFolder } from '../../../infrastructure/catalogue/verify-folder.ts'
import { isDataDirectoryInUse } from '../../../infrastructure/sqlite/data-directory.ts'
import { type Control, fetchAll, withControl } from '../control-client.ts'
import { CommandError } from '../../command-error.ts'
import { toolSettings } from '../tool-settings.ts'
import { foldersOf, modelsDirectory, notInstalled, rescan } from './installed.ts'
import { tableOf } from '../table.ts'

const tableFor = ({ files }: FolderFinding): string =>
  tableOf(
    ['file', 'MB', 'state', ''],
    files.map(({ path, bytes, state, detail }) => [path, (bytes / 1e6).toFixed(2), state, detail]),
  )

const verdictOf = (name: string, { folder, files, problem, trial, kept }: FolderFinding): string => {
  const wrong = files.filter(({ state }) => state !== 'ok').length
  if (wrong > 0) return `${name}: ${wrong} of ${files.length} files have problems (${folder})`
  if (problem !== null) return `${name}: ${problem} (${folder})`
  const memory = trial?.megabytes === null || trial === null ? 'memory not measured' : `${trial.megabytes} MB of memory`
  return `${name}: ok, ${memory}${kept ? '' : '; the folder is read-only, so the result was not saved'}`
}

/**
 * Runs `stenolog models verify`. Resolves to the exit code: 1 when it finds a problem. Throws a CommandError for a
 * model that is not installed.
 */
export const verifyModels = async (names: ReadonlyArray<string>, json: boolean): Promise<number> => {
  const folders = await foldersOf(names)
  const missing = folders.find(({ folder }) => !existsSync(folder))
  if (missing !== undefined) throw notInstalled(missing.name, (await foldersOf([])).map(({ name }) => name))
  const found: Array<FolderFinding & { readonly name: string }> = []
  for (const { name, folder } of folders) {
    const finding = await verifyFolder(folder)
    found.push({ name, ...finding })
    if (!json) console.log(`${tableFor(finding)}\n${verdictOf(name, finding)}\n`)
  }
  if (json) console.log(JSON.stringify(found))
  return found.every(({ files, problem }) => problem === null && files.every(({ state }) => state === 'ok')) ? 0 : 1
}

const live = object({
  id: t.number,
  model: object({ name: t.string }),
  translations: t.readonlyArray(object({ model: t.string })),
})

const openLivesWith = async (control: Control, name: string): Promise<ReadonlyArray<number>> => {
  const open = await fetchAll(control, '/admin/lives?status=pending&status=active', live)
  return open
    .filter(({ model, translations }) => model.name === name || translations.some((pair) => pair.model === name))
    .map(({ id }) => id)
}

const requireUnused = async (control: Control, name: string): Promise<void> => {
  const using = await openLivesWith(control, name)
  if (using.length === 0) return
  const [first = 0] = using
  const isOne = using.length === 1
  throw new CommandError(`${name} is in use by ${isOne ? 'session' : 'sessions'} ${using.join(', ')}.`, {
    hint: `Finish ${isOne ? 'the session' : 'each session'}: npm run stenolog -- lives finish ${first}`,
  })
}

const requireNoWorker = (): void => {
  const { dataDir } = toolSettings()
  if (isDataDirectoryInUse(dataDir))
    throw new CommandError(`A process uses the data directory ${dataDir}, and possibly this model.`, {
      hint: 'Stop that process first.',
    })
}

/**
 * Runs `stenolog models remove`. Hides the folder first and deletes it last, so a session that starts in between can
 * still stop the removal. Resolves to the exit code.
 */
export const removeModel = async (given: string, json: boolean): Promise<number> => {
  const modelsDir = modelsDirectory()
  const [found] = await foldersOf([given])
  if (found === undefined || !existsSync(found.folder))
    throw notInstalled(given, (await foldersOf([])).map(({ name }) => name))
  const { name, folder } = found
  if (dirname(resolve(folder)) !== resolve(modelsDir))
    throw new CommandError(`${name} ships with the service and cannot be removed.`, {
      hint: `Disable it: npm run stenolog -- models disable ${name}`,
    })
  const hiddenFolder = join(modelsDir, `.removing-${name}`)
  await withControl(async (control) => {
    await requireUnused(control, name)
    await rm(hiddenFolder, { recursive: true, force: true })
    // A worker without a control socket cannot be told to rescan: it would keep offering the removed model.
    if (!control.runsModels) requireNoWorker()
    await rename(folder, hiddenFolder)
    try {
      await rescan(control)
      // A session may have been created between the first check and the rename.
      await requireUnused(control, name)
    } catch (error) {
      await rename(hiddenFolder, folder)
      await rescan(control).catch(() => undefined)
      throw error
    }
  })
  await rm(hiddenFolder, { recursive: true, force: true })
  console.log(json ? JSON.stringify({ name, folder }) : `${name} removed (${folder})`)
  return 0
}
