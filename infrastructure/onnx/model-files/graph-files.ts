import { createHash } from 'node:crypto'
import { constants, open, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '../../../domain/shared/message-of.ts'
import { orThrow } from '../../../domain/shared/or-throw.ts'
import { readManifest } from './manifest.ts'
import { externalLocations } from './external-data.ts'

/** A graph with all its weights, in memory. */
export interface GraphFiles {
  readonly graph: Uint8Array
  /** Weights that are not in the graph, each with the name that the graph uses. */
  readonly externalData: ReadonlyArray<{ readonly path: string; readonly data: Uint8Array }>
}

/** Node reads fewer than 2 GiB at once. */
const MAX_READ = 2 ** 30

/** Whether a file name is one of the names that weights of `graph`, the name of an ONNX file, may have. */
export const isExternalDataOf = (graph: string, name: string): boolean =>
  name.startsWith(`${graph}_data`) && /^[\w.-]*$/.test(name.slice(graph.length))

/** Reads a file that may have more than 2 GiB. Throws for a link and for anything else that is no regular file. */
const readRegularFile = async (path: string): Promise<Uint8Array> => {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new Error('it is no regular file')
    const data = Buffer.allocUnsafeSlow(stats.size)
    for (let at = 0; at < data.length;) {
      const { bytesRead } = await handle.read(data, at, Math.min(MAX_READ, data.length - at))
      if (bytesRead === 0) throw new Error('it became shorter')
      at += bytesRead
    }
    return data
  } finally {
    await handle.close()
  }
}

const readExternalData = async (folder: string, graph: string, name: string): Promise<Uint8Array> => {
  if (!isExternalDataOf(graph, name)) {
    const wanted = JSON.stringify(name)
    throw new Error(`${graph} wants weights from ${wanted}; only files ${graph}_data… next to it may hold them`)
  }
  return readRegularFile(join(folder, name)).catch((error: NodeJS.ErrnoException) => {
    const reason = error.code === 'ELOOP' ? 'it is a link' : messageOf(error)
    throw new Error(`${name} with weights of ${graph} cannot be used: ${reason}`)
  })
}

/**
 * Reads a graph of a model's folder with its external data, and checks them before onnxruntime sees them: external data
 * comes only from regular files next to the graph that have its name, and all files equal the hashes in the manifest of
 * the model, if it names them. onnxruntime then gets bytes and opens no file, so a file that is replaced after the
 * check changes nothing. Throws with a reason for users.
 */
export const readGraphFiles = async (file: string): Promise<GraphFiles> => {
  const [folder, name] = [dirname(file), basename(file)]
  const graph = await readFile(file)
  const locations = externalLocations(graph)
  const externalData: Array<GraphFiles['externalData'][number]> = []
  for (const path of locations) externalData.push({ path, data: await readExternalData(folder, name, path) })
  const recorded = orThrow(await readManifest(dirname(folder)))?.files ?? []
  for (const { path, data } of [{ path: name, data: graph }, ...externalData]) {
    const record = recorded.find((found) => found.path === `${basename(folder)}/${path}`)
    if (record !== undefined && createHash('sha256').update(data).digest('hex') !== record.sha256)
      throw new Error(`${record.path} differs from the hash in the manifest of the model`)
  }
  return { graph, externalData }
}
