import { chmod, mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { acquireDataDirectory } from '../sqlite/data-directory.ts'
import { pathExists } from '../files/path-exists.ts'
import { sync } from '../files/sync.ts'

/** Folder inside the models directory, so one rename installs a complete model. The catalogue ignores this folder. */
const WORK = '.pulling'

/** The files of a model during its download. They survive a kill, so the next attempt continues with them. */
export interface Staging {
  /** The folder that becomes the model's folder. */
  readonly files: string
  /** Returns the path of an incomplete file. `key`: its hash, so an attempt continues only with the same content. */
  readonly part: (key: string) => string
  /** Removes all complete files except these paths. */
  readonly keepOnly: (paths: ReadonlySet<string>) => Promise<void>
  /**
   * Moves the folder into its place, replaces an installed model of the same name and returns the path. Models contain
   * no secrets, and the service may run as another user, so every user may read the files.
   */
  readonly install: () => Promise<string>
  /** Releases the lock. Downloaded files stay for the next attempt. */
  readonly close: () => Promise<void>
}

const filesBelow = async (directory: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => !entry.isDirectory())
  return files.map((entry) => relative(directory, join(entry.parentPath, entry.name)))
}

/** Lets every user read a folder with all that it contains, whatever the umask of this process is. */
const publish = async (folder: string): Promise<void> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const entry of entries) await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  await chmod(folder, 0o755)
}

/**
 * Opens the staging folder of a model under a lock. Throws an Error with a message for users when another process pulls
 * the model or when the folder cannot be written.
 */
export const openStaging = async (modelsDir: string, name: string): Promise<Staging> => {
  const work = join(modelsDir, WORK, name)
  const isNew = !(await pathExists(modelsDir))
  // Does not wait, because waiting blocks the service, which also pulls.
  const lock = acquireDataDirectory(work, 0)
  if (E.isLeft(lock)) {
    const isInUse = lock.left._tag === 'DataDirectoryInUse'
    throw new Error(isInUse ? `another process is pulling ${name}` : `${work} cannot be used: ${lock.left.reason}`)
  }
  if (isNew) await chmod(modelsDir, 0o755)
  const [files, parts, replaced] = [join(work, 'files'), join(work, 'parts'), join(work, 'replaced')]
  const place = join(modelsDir, name)
  let closed = false
  const remove = async (): Promise<void> => {
    await rm(work, { recursive: true, force: true })
    // Fails when the folder contains another model that is being pulled.
    await rmdir(dirname(work)).catch(() => undefined)
  }
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    const downloaded = [...(await filesBelow(files)), ...(await filesBelow(parts))]
    if (downloaded.length === 0) await remove()
    lock.right.release()
  }
  await mkdir(join(files, 'onnx'), { recursive: true })
  await mkdir(parts, { recursive: true })
  return {
    files,
    part: (key) => join(parts, key),
    keepOnly: async (paths) => {
      for (const path of await filesBelow(files)) if (!paths.has(path)) await rm(join(files, path))
    },
    install: async () => {
      await publish(files)
      await sync(join(files, 'onnx'))
      await sync(files)
      await rm(replaced, { recursive: true, force: true })
      if (await pathExists(place)) await rename(place, replaced)
      await rename(files, place)
      await sync(dirname(place))
      await remove()
      closed = true
      lock.right.release()
      return place
    },
    close,
  }
}
