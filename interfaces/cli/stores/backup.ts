import { copyFile, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import { createEnvironment } from '../../../infrastructure/environment.ts'
import { sha256Of } from '../../../infrastructure/file-hash.ts'
import { copyDatabase } from '../../../infrastructure/sqlite/copy-database.ts'
import { verifyChain } from '../../../infrastructure/sqlite/verify-chain.ts'
import { EVENTS_FILE } from '../../compose/stores.ts'
import { BACKED_UP, BACKUP_FORMAT, MANIFEST_FILE, MASTER_KEY_FILE, productVersion } from './backup-manifest.ts'
import type { Manifest } from './backup-manifest.ts'
import { dataFiles, requireEmbedded } from './tool-data.ts'
import { toolSettings } from '../tool-settings.ts'

export const BACKUP_HELP = `stenolog backup DIR [--without-key]

Copies the embedded stores (log, keyring, read models) into DIR, which must be new or empty; a service that runs goes on.
The copy of each store is that of one moment, and together they fit: the log holds all that the read models show, the
keyring all keys that the log needs. The copied log is checked; a damaged one is copied too, with exit code 1.
A master key that lies in the data directory is copied as well: whoever has DIR can then read everything, so keep it as
you keep the service's own data. One named by STENOLOG_MASTER_KEY_FILE is never copied.
The embedded stores alone: EventStoreDB and MongoDB have tools of their own.
--without-key  leaves the master key out: without it the backup is of no use, so keep it elsewhere`

const requireEmpty = async (directory: string): Promise<void> => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  if ((await readdir(directory)).length > 0) throw new Error(`${directory} is not empty`)
}

const writeDurably = async (file: string, text: string): Promise<void> => {
  await writeFile(file, text, { mode: 0o600 })
  const handle = await open(file, 'r+')
  await handle.sync()
  await handle.close()
}

/** Makes the backup; resolves to the exit code: 1 when the log is damaged. */
export const backup = async (args: ReadonlyArray<string>): Promise<number> => {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { 'without-key': { type: 'boolean', default: false } },
  })
  const [directory, ...more] = positionals
  if (directory === undefined || more.length > 0) throw new Error('backup needs one DIR')
  const settings = toolSettings()
  requireEmbedded('backup', settings)
  const files = dataFiles(settings)
  await requireEmpty(directory)
  const sources = { 'documents.sqlite': files.documents, 'events.sqlite': files.events, 'keyring.sqlite': files.keyring }
  const digests: Record<string, string> = {}
  for (const name of BACKED_UP) {
    await copyDatabase(sources[name], join(directory, name))
    digests[name] = await sha256Of(join(directory, name))
  }
  const withKey = settings.masterKeyFile === null && !values['without-key']
  if (withKey) {
    await copyFile(files.masterKey, join(directory, MASTER_KEY_FILE))
    digests[MASTER_KEY_FILE] = await sha256Of(join(directory, MASTER_KEY_FILE))
  }
  const verified = await verifyChain(join(directory, EVENTS_FILE))
  const rows = E.isRight(verified) ? verified.right : Number(verified.left.position) - 1
  const manifest: Manifest = { format: BACKUP_FORMAT, version: await productVersion(), createdAt: createEnvironment().now(), rows, files: digests }
  // Last: a directory without it is no backup.
  await writeDurably(join(directory, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
  console.log(`${rows} rows of the log, their keys and read models are in ${directory}`)
  console.log(withKey ? 'The master key is there too: keep the backup as safe as the service.' : 'The master key is not there: keep it elsewhere, the backup is of no use without it.')
  if (E.isRight(verified)) return 0
  console.error(`the log is damaged from position ${verified.left.position} on: ${verified.left.reason}`)
  return 1
}
