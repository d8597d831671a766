import { messageOf } from '../../domain/shared/message-of.ts'
import { openSession } from '../onnx/sessions.ts'

/**
 * A process that loads one graph as the engine does, because a damaged graph may kill its process. Writes errors to
 * stderr.
 */
const [file = ''] = process.argv.slice(2)
try {
  const session = await openSession(file)
  await session.release()
} catch (error) {
  process.stderr.write(messageOf(error))
  process.exitCode = 1
}
