import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { messageOf } from '../../domain/shared/message-of.ts'
import { sha256Of } from '../files/file-hash.ts'
import { familyOf } from '../onnx/families.ts'
import { isExternalDataOf } from '../onnx/model-files/graph-files.ts'
import { readJson, tokenizerConfigJson, tokenizerJson } from '../onnx/model-json.ts'
import { graphProblem } from './graph-problem.ts'
import { type Manifest, readManifest, writeManifest } from '../onnx/model-files/manifest.ts'
import { measuredBy, type Trial, tryModel } from './trial.ts'

export interface FileFinding {
  readonly path: string
  readonly bytes: number
  /** `hash`: the file differs from its stored size or hash. `damaged`: the file cannot be read or loaded. */
  readonly state: 'ok' | 'missing' | 'damaged' | 'hash'
  /** The problem in words; empty for `ok`. */
  readonly detail: string
}

export interface FolderFinding {
  readonly folder: string
  readonly files: ReadonlyArray<FileFinding>
  /** A problem of the whole folder; null when there is no problem, or only problems of files. */
  readonly problem: string | null
  /** Null when a file or the folder has a problem. */
  readonly trial: Trial | null
  /** Whether this check has stored hashes and measurements of the files. */
  readonly kept: boolean
}

const jsonProblem = async (folder: string, path: string): Promise<string | null> => {
  const codec =
    path === 'tokenizer.json' ? tokenizerJson : path === 'tokenizer_config.json' ? tokenizerConfigJson : t.UnknownRecord
  const read = await readJson<unknown>(folder, path, codec)
  return E.isLeft(read) ? read.left : null
}

interface Expected {
  /** Paths in the folder of the files that the engine would load, as far as the family is known. */
  readonly paths: ReadonlyArray<string>
  /** Why further files are unknown; null when all are known. */
  readonly problem: string | null
}

/** Returns a graph and the files next to it that may hold its weights. */
const withExternalData = async (graph: string): Promise<ReadonlyArray<string>> => {
  const names = await readdir(dirname(graph))
  const data = names.filter((name) => isExternalDataOf(basename(graph), name)).sort()
  return [graph, ...data.map((name) => join(dirname(graph), name))]
}

const expectedIn = async (folder: string): Promise<Expected> => {
  const family = await familyOf(folder)
  if (E.isLeft(family)) return { paths: ['config.json'], problem: family.left }
  const { jsonFiles, findWeights } = family.right
  const weights = await findWeights(folder, 'cpu')
  if (E.isLeft(weights)) return { paths: jsonFiles, problem: weights.left }
  const files = await Promise.all(weights.right.graphs.map(withExternalData))
  return { paths: [...jsonFiles, ...files.flat().map((file) => relative(folder, file))], problem: null }
}

const checkFile = async (
  folder: string,
  path: string,
  recorded: Manifest['files'][number] | undefined,
): Promise<FileFinding> => {
  const file = join(folder, path)
  const bytes = await stat(file).then(
    (stats) => (stats.isFile() ? stats.size : null),
    () => null,
  )
  if (bytes === null) return { path, bytes: 0, state: 'missing', detail: 'the file is missing' }
  if (recorded !== undefined && recorded.size !== bytes)
    return { path, bytes, state: 'hash', detail: `${bytes} bytes, not ${recorded.size}` }
  try {
    if (recorded !== undefined && (await sha256Of(file)) !== recorded.sha256)
      return { path, bytes, state: 'hash', detail: 'the content differs from the stored hash' }
  } catch (error) {
    return { path, bytes, state: 'damaged', detail: `cannot be read (${messageOf(error)})` }
  }
  const problem = path.endsWith('.json')
    ? await jsonProblem(folder, path)
    : path.endsWith('.onnx')
      ? await graphProblem(file, 'load')
      : null
  return problem === null
    ? { path, bytes, state: 'ok', detail: '' }
    : { path, bytes, state: 'damaged', detail: problem }
}

/** Stores hashes and measurements of a correct folder; false when the folder is not writable. */
const store = async (
  folder: string,
  files: ReadonlyArray<FileFinding>,
  known: Manifest | null,
  trial: Trial,
): Promise<boolean> => {
  const recorded = known?.files ?? []
  const added = files.filter(({ path }) => !recorded.some((record) => record.path === path))
  const hashed = await Promise.all(
    added.map(async ({ path, bytes: size }) => ({ path, size, sha256: await sha256Of(join(folder, path)) })),
  )
  return writeManifest(folder, { ...known, files: [...recorded, ...hashed], ...measuredBy(trial) }).then(
    () => true,
    () => false,
  )
}

/**
 * Checks each file of a folder, and loads the model as the engine would. The pull has stored the hashes. For a
 * folder from another source, the first successful check stores them in stenolog.json.
 *
 * @param execArgv flags for Node in the trial
 * @param keeps whether hashes and measurements may be stored
 */
export const verifyFolder = async (
  folder: string,
  execArgv: ReadonlyArray<string> = [],
  keeps = true,
): Promise<FolderFinding> => {
  const nothing = { folder, files: [], trial: null, kept: false }
  if (
    !(await stat(folder).then(
      (stats) => stats.isDirectory(),
      () => false,
    ))
  )
    return { ...nothing, problem: 'the folder is missing' }
  const manifest = await readManifest(folder)
  if (E.isLeft(manifest)) return { ...nothing, problem: manifest.left }
  const known = manifest.right
  const expected = await expectedIn(folder)
  const recorded = known?.files ?? []
  const paths = new Set([...expected.paths, ...recorded.map(({ path }) => path)])
  const files: Array<FileFinding> = []
  for (const path of paths)
    files.push(
      await checkFile(
        folder,
        path,
        recorded.find((record) => record.path === path),
      ),
    )
  const { problem } = expected
  if (problem !== null || files.some(({ state }) => state !== 'ok')) return { ...nothing, files, problem }
  const trial = await tryModel(folder, execArgv)
  if (E.isLeft(trial)) return { ...nothing, files, problem: trial.left }
  const kept = keeps && (await store(folder, files, known, trial.right))
  return { folder, files, problem: null, trial: trial.right, kept }
}
