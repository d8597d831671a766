import { messageOf } from '../../domain/shared/message-of.ts'
import { openSession } from '../onnx/sessions.ts'

/**
 * Loads one graph (an ONNX file) as the engine does. A separate process runs this file, because a damaged graph may
 * kill the process that loads it. Writes errors to stderr.
 */
const [file = ''] = process.argv.slice(2)
try {
  const session = await openSession(file)
  await session.release()
} catch (error) {
  process.stderr.write(messageOf(error))
  process.exitCode = 1
}
