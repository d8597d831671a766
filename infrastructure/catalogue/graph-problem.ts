import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEmptyDirectory } from '../files/empty-directory.ts'
import { engineEnvironment } from '../onnx/providers/engine-environment.ts'

/** `read`: whether the graph and its weights may be used. `load`: also whether onnxruntime loads them. */
export type GraphCheck = 'read' | 'load'

const GRAPH_CHECK = fileURLToPath(new URL('./graph-check-process.ts', import.meta.url))
/** Messages are cut to this length. */
const MAX_DETAIL_CHARACTERS = 300

/** Checks a graph in a process of its own. Returns the error; null when the graph is fine. */
export const graphProblem = async (file: string, check: GraphCheck): Promise<string | null> => {
  const directory = createEmptyDirectory()
  const options = { env: engineEnvironment(), cwd: directory.path }
  const problem = new Promise<string | null>((done) => {
    execFile(process.execPath, [GRAPH_CHECK, resolve(file), check], options, (error, _out, stderr) => {
      if (error === null) return done(null)
      const reason = stderr.trim() || `the file killed the process that loaded it (${error.signal ?? error.code})`
      done(reason.slice(0, MAX_DETAIL_CHARACTERS))
    })
  })
  return problem.finally(directory.remove)
}
