import { messageOf } from '../../domain/shared/message-of.ts'
import { openSession } from '../onnx/sessions.ts'

/** A process that loads one graph as the engine does, for a damaged one may bring its process down. Says on stderr what is wrong. */
const [file = ''] = process.argv.slice(2)
try {
  const session = await openSession(file)
  await session.release()
} catch (error) {
  process.stderr.write(messageOf(error))
  process.exitCode = 1
}
