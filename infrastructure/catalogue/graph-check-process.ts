import { messageOf } from '../../domain/shared/message-of.ts'
import { readGraphFiles } from '../onnx/model-files/graph-files.ts'
import { openSession } from '../onnx/sessions.ts'

/**
 * Reads or loads one graph (an ONNX file) as the engine does. A separate process runs this file, because a damaged
 * graph may kill the process that loads it. Writes errors to stderr.
 */
const [file = '', check] = process.argv.slice(2)
try {
  if (check === 'load') await (await openSession(file)).release()
  else await readGraphFiles(file)
} catch (error) {
  process.stderr.write(messageOf(error))
  process.exitCode = 1
}
