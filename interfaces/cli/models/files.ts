import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { verifyFolder } from '../../../infrastructure/catalogue/verify-folder.ts'
import type { FolderFinding } from '../../../infrastructure/catalogue/verify-folder.ts'
import { allOf, withControl } from '../control-client.ts'
import type { Control } from '../control-client.ts'
import { CommandError } from '../../command-error.ts'
import { isServiceRunning } from '../stores/tool-data.ts'
import { toolSettings } from '../tool-settings.ts'
import { foldersOf, modelsDirectory, notInstalled, rescan } from './found.ts'
import { tableOf } from '../table.ts'

const tableFor = ({ files }: FolderFinding): string =>
  tableOf(['file', 'MB', 'state', ''], files.map(({ path, bytes, state, detail }) => [path, (bytes / 1e6).toFixed(2), state, detail]))

const verdictOf = (name: string, { folder, files, problem, trial, kept }: FolderFinding): string => {
  const wrong = files.filter(({ state }) => state !== 'ok').length
  if (wrong > 0) return `${name}: ${wrong} of ${files.length} files are wrong (${folder})`
  if (problem !== null) return `${name}: ${problem} (${folder})`
  const memory = trial?.megabytes === null || trial === null ? 'memory not measured' : `${trial.megabytes} MB of memory`
  return `${name}: ok, ${memory}${kept ? '' : '; the folder cannot be written, so nothing was kept'}`
}

/** `stenolog models verify`: 1 where anything is wrong. */
export const verifyModels = async (names: ReadonlyArray<string>, json: boolean): Promise<number> => {
  const folders = await foldersOf(names)
  const found: Array<FolderFinding & { readonly name: string }> = []
  for (const { name, folder } of folders) {
    const finding = await verifyFolder(folder)
    found.push({ name, ...finding })
    if (!json) console.log(`${tableFor(finding)}\n${verdictOf(name, finding)}\n`)
  }
  if (json) console.log(JSON.stringify(found))
  return found.every(({ files, problem }) => problem === null && files.every(({ state }) => state === 'ok')) ? 0 : 1
}

const live = object({ id: t.number, model: object({ name: t.string }), translations: t.readonlyArray(object({ model: t.string })) })
const livesWith = async (control: Control, name: string): Promise<ReadonlyArray<number>> => {
  const open = await allOf(control, '/admin/lives?status=pending&status=active', live)
  return open.filter(({ model, translations }) => model.name === name || translations.some((pair) => pair.model === name)).map(({ id }) => id)
}

const refuseUse = async (control: Control, name: string): Promise<void> => {
  const using = await livesWith(control, name)
  if (using.length === 0) return
  const [first = 0] = using
  throw new CommandError(
    `${name} is in use by ${using.length === 1 ? 'session' : 'sessions'} ${using.join(', ')}.`,
    { hint: `To end ${using.length === 1 ? 'it' : 'the first'}: npm run stenolog -- lives finish ${first}` },
  )
}

const refuseBesideWorker = (): void => {
  const { dataDir } = toolSettings()
  if (isServiceRunning(dataDir))
    throw new CommandError(`The process of the data directory ${dataDir} may run the model: stop it first.`)
}

/** `stenolog models remove`: the folder goes first out of sight, then for good. */
export const removeModel = async (given: string, json: boolean): Promise<number> => {
  const modelsDir = modelsDirectory()
  const [found] = await foldersOf([given])
  if (found === undefined || !existsSync(found.folder)) throw notInstalled(given, (await foldersOf([])).map(({ name }) => name))
  const { name, folder } = found
  if (dirname(resolve(folder)) !== resolve(modelsDir)) throw new CommandError(`${name} ships with the service.`, { hint: `To switch it off: npm run stenolog -- models disable ${name}` })
  const away = join(modelsDir, `.removing-${name}`)
  await withControl(async (control) => {
    await refuseUse(control, name)
    await rm(away, { recursive: true, force: true })
    // A worker without a socket for commands would go on offering what is gone.
    if (!control.runsModels) refuseBesideWorker()
    await rename(folder, away)
    try {
      await rescan(control)
      // One that was created in between.
      await refuseUse(control, name)
    } catch (error) {
      await rename(away, folder)
      await rescan(control).catch(() => undefined)
      throw error
    }
  })
  await rm(away, { recursive: true, force: true })
  console.log(json ? JSON.stringify({ name, folder }) : `${name} is removed (${folder})`)
  return 0
}
