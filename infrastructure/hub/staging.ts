import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import { acquireDataDirectory } from '../sqlite/data-directory.ts'
import { pathExists } from '../files/path-exists.ts'
import { sync } from '../files/sync.ts'

/** In the models directory, so that what is whole moves into its place by a rename. No model is looked for in it. */
const WORK = '.pulling'

/** Where a model grows before it is one. It outlives a kill; another attempt goes on with it. */
export interface Staging {
  /** The folder that becomes the model's. */
  readonly files: string
  /** Where a file grows: by its hash, so that what is there is of the same content. */
  readonly part: (key: string) => string
  /** Removes what is not among these paths. */
  readonly keepOnly: (paths: ReadonlySet<string>) => Promise<void>
  /** Moves it into its place, in one step; an earlier model there is replaced. */
  readonly install: () => Promise<string>
  /** Gives the place up; what came so far stays for another attempt. */
  readonly close: () => Promise<void>
}

const filesBelow = async (directory: string): Promise<ReadonlyArray<string>> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [] : [relative(directory, join(entry.parentPath, entry.name))]))
}

/** Takes the place where `name` grows. Throws an Error for people where another process has it or the directory cannot be written. */
export const openStaging = async (modelsDir: string, name: string): Promise<Staging> => {
  const work = join(modelsDir, WORK, name)
  const lock = acquireDataDirectory(work)
  if (E.isLeft(lock)) {
    throw new Error(lock.left._tag === 'DataDirectoryInUse' ? `another process is pulling ${name}` : `${work} cannot be used: ${lock.left.reason}`)
  }
  const [files, parts, old] = [join(work, 'files'), join(work, 'parts'), join(work, 'replaced')]
  const place = join(modelsDir, name)
  let closed = false
  const remove = async (): Promise<void> => {
    await rm(work, { recursive: true, force: true })
    // Another model may be growing.
    await rmdir(dirname(work)).catch(() => undefined)
  }
  const close = async (): Promise<void> => {
    if (closed) return
    closed = true
    const came = [...(await filesBelow(files)), ...(await filesBelow(parts))]
    if (came.length === 0) await remove()
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
      await sync(join(files, 'onnx'))
      await sync(files)
      await rm(old, { recursive: true, force: true })
      if (await pathExists(place)) await rename(place, old)
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
