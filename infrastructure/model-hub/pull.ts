import { copyFile, lstat, readdir, rename, stat, statfs } from 'node:fs/promises'
import { join, relative } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { orThrow } from '../../domain/shared/or-throw.ts'
import { graphProblem } from '../catalogue/graph-problem.ts'
import { type Manifest, type Measured, writeManifest } from '../onnx/model-files/manifest.ts'
import { pathExists } from '../files/path-exists.ts'
import { sync } from '../files/sync.ts'
import { familyOf } from '../onnx/families.ts'
import type { Precision } from '../onnx/model-weights.ts'
import { chooseProvider } from '../onnx/providers/execution-provider.ts'
import { downloadFile, sha256IfComplete } from './download.ts'
import { chooseFiles, isExternalData } from './export-files.ts'
import { HubError } from './hub-error.ts'
import type { HubHttp } from './hub-http.ts'
import type { Wait } from './retries.ts'
import { contentUrl, type ListedFile, readRepository, type Repository } from './repository.ts'
import { openStaging, type Staging } from './staging.ts'

export type Source =
  /** `ids`: alternatives; the first one that exists on the hub is pulled. */
  | { readonly kind: 'hub'; readonly http: HubHttp; readonly ids: ReadonlyArray<string>; readonly revision: string }
  | { readonly kind: 'directory'; readonly path: string }

export interface PullOptions {
  readonly source: Source
  /** Folder of the models; created if it does not exist. */
  readonly modelsDir: string
  /** Name of the model's folder in it. */
  readonly name: string
  /** Null: the precision that this machine runs best. */
  readonly precision: Precision | null
  /** Whether an installed model of this name is replaced. */
  readonly force: boolean
  /** Tries the complete model before it is installed. Its result goes into the manifest; its error ends the pull. */
  readonly check: (folder: string) => Promise<Measured>
  readonly onProgress: (done: number, total: number, path: string) => void
  readonly wait: Wait
}

export interface Pulled {
  readonly folder: string
  readonly manifest: Manifest
}

/** Disk space that must stay free. */
const SPARE_BYTES = 64 * 2 ** 20

interface Chosen {
  /** The repository or directory, for the manifest. */
  readonly source: string
  readonly commit: string | null
  readonly precision: Precision
  readonly files: ReadonlyArray<ListedFile>
  /** Copies a complete file into the staging folder and returns its SHA-256. */
  readonly fetch: (file: ListedFile, staging: Staging, onBytes: (bytes: number) => void) => Promise<string>
}

const listDirectory = async (path: string): Promise<ReadonlyArray<ListedFile>> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.flatMap((entry) => (entry.isDirectory() ? [] : [join(entry.parentPath, entry.name)]))
  return Promise.all(
    files.map(async (file) => ({ path: relative(path, file), size: (await stat(file)).size, hash: null })),
  )
}

/** Chooses the files. Without a wanted precision the device of this machine decides. */
const chooseForMachine = async (name: string, files: ReadonlyArray<ListedFile>, precision: Precision | null) =>
  orThrow(chooseFiles(files, precision, precision === null ? (await chooseProvider()).provider : 'cpu'), name)

/** Statuses for unknown models: without a login the hub answers 401. */
const NOT_FOUND_STATUSES = new Set([401, 403, 404])

type HubSource = Source & { readonly kind: 'hub' }

const firstExisting = async (
  { http, ids, revision }: HubSource,
  wait: Wait,
): Promise<Repository & { readonly id: string }> => {
  for (const [index, id] of ids.entries())
    try {
      return { id, ...(await readRepository(http, id, revision, wait)) }
    } catch (error) {
      const isNotFound = error instanceof HubError && error.status !== null && NOT_FOUND_STATUSES.has(error.status)
      if (!isNotFound || index === ids.length - 1) throw error
    }
  throw new Error('the source names no repository')
}

const fromHub = async (source: HubSource, precision: Precision | null, wait: Wait): Promise<Chosen> => {
  const { http } = source
  const { id, commit, files } = await firstExisting(source, wait)
  return {
    ...(await chooseForMachine(id, files, precision)),
    source: id,
    commit,
    fetch: (file, staging, onBytes) =>
      downloadFile({
        http,
        url: contentUrl(http, id, commit, file.path),
        file,
        part: staging.part(file.hash?.hex ?? ''),
        target: join(staging.files, file.path),
        onBytes,
        wait,
      }),
  }
}

const fromDirectory = async (
  { path }: Source & { readonly kind: 'directory' },
  precision: Precision | null,
): Promise<Chosen> => ({
  ...(await chooseForMachine(path, await listDirectory(path), precision)),
  source: path,
  commit: null,
  fetch: async (file, staging, onBytes) => {
    const [from, target] = [join(path, file.path), join(staging.files, file.path)]
    // A link in a model from somewhere else could make any file of this machine its weights.
    if (isExternalData(file.path) && (await lstat(from)).isSymbolicLink())
      throw new Error(`${from} is a link; copy the folder with its files (cp -rL) and pull the copy`)
    await copyFile(from, `${target}.part`)
    await sync(`${target}.part`)
    await rename(`${target}.part`, target)
    onBytes(file.size)
    const sha256 = await sha256IfComplete(target, file)
    if (sha256 === null) throw new Error(`${from} changed while it was copied`)
    return sha256
  },
})

/** Returns the SHA-256 of each file that an earlier attempt has completed, by path. */
const findComplete = async (
  files: ReadonlyArray<ListedFile>,
  staging: Staging,
): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>()
  for (const file of files) {
    const sha256 = file.hash === null ? null : await sha256IfComplete(join(staging.files, file.path), file)
    if (sha256 !== null) found.set(file.path, sha256)
  }
  return found
}

const requireSpace = async (directory: string, files: ReadonlyArray<ListedFile>, staging: Staging): Promise<void> => {
  let needed = SPARE_BYTES
  for (const { size, hash } of files) {
    const have = hash === null ? 0 : await stat(staging.part(hash.hex)).then((stats) => stats.size, () => 0)
    needed += Math.max(0, size - have)
  }
  const { bavail, bsize } = await statfs(directory)
  const free = bavail * bsize
  const inMb = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`
  if (needed > free) throw new Error(`${directory} has ${inMb(free)} free, but the model needs ${inMb(needed)}`)
}

/** Throws an Error for a model that the engine cannot run, before the large files are downloaded. */
const requireFamily = async (staging: Staging, files: Chosen['files']): Promise<void> => {
  const family = await familyOf(staging.files, files.map(({ path }) => path))
  if (E.isLeft(family)) throw new Error(family.left)
}

/** Throws an Error for a graph that wants weights from other files than those next to it. */
const requireOwnWeights = async (staging: Staging, files: Chosen['files']): Promise<void> => {
  for (const { path } of files) {
    const problem = path.endsWith('.onnx') ? await graphProblem(join(staging.files, path), 'read') : null
    if (problem !== null) throw new Error(`${path} cannot be used: ${problem}`)
  }
}

const fetchAll = async (chosen: Chosen, staging: Staging, options: PullOptions): Promise<Manifest['files']> => {
  const { files, fetch } = chosen
  const complete = await findComplete(files, staging)
  await staging.keepOnly(new Set(complete.keys()))
  const missing = files.filter(({ path }) => !complete.has(path))
  await requireSpace(options.modelsDir, missing, staging)
  const total = files.reduce((sum, { size }) => sum + size, 0)
  let done = 0
  const records: Array<Manifest['files'][number]> = []
  for (const file of files) {
    const { path, size } = file
    const onBytes = (bytes: number): void => options.onProgress(done + bytes, total, path)
    const sha256 = complete.get(path) ?? (await fetch(file, staging, onBytes))
    if (path === 'config.json') await requireFamily(staging, files)
    done += size
    options.onProgress(done, total, path)
    records.push({ path, size, sha256 })
  }
  await requireOwnWeights(staging, files)
  return records
}

/**
 * Installs a model in the models directory. The files are downloaded into a staging folder, checked, tried and synced,
 * and only then renamed into place. After a killed pull, the next pull of the same name continues with its files.
 * Throws an Error with a message for users.
 */
export const pullModel = async (options: PullOptions): Promise<Pulled> => {
  const { source, modelsDir, name, precision, wait } = options
  const place = join(modelsDir, name)
  if (!options.force && (await pathExists(place)))
    throw new Error(`${name} is already installed (${place}); --force replaces it`)
  const staging = await openStaging(modelsDir, name)
  try {
    const chosen =
      source.kind === 'hub' ? await fromHub(source, precision, wait) : await fromDirectory(source, precision)
    const files = await fetchAll(chosen, staging, options)
    const measured = await options.check(staging.files)
    const manifest: Manifest = {
      source: chosen.source,
      ...(chosen.commit === null ? {} : { commit: chosen.commit }),
      precision: chosen.precision,
      files,
      ...measured,
    }
    await writeManifest(staging.files, manifest)
    return { folder: await staging.install(), manifest }
  } finally {
    await staging.close()
  }
}

