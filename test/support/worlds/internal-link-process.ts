import { createLiveLinks } from '../../../infrastructure/process-links/client.ts'
import { openInternalServer } from '../../../infrastructure/process-links/server.ts'
import { systemTimers as timers } from '../../../infrastructure/process/system-timers.ts'
import { createRecordingLogger } from '../doubles/loggers.ts'

/**
 * A process that a test kills or freezes. `serve KEY` opens an internal port and prints its address. `dial KEY ADDRESS`
 * opens a link and prints `open` and `closed: REASON`.
 */
const [command, key = '', address = ''] = process.argv.slice(2)
const masterKey = Buffer.from(key, 'hex')
const logger = createRecordingLogger()
const self = { name: 'worker-1', incarnation: '1' }

if (command === 'serve') {
  const server = await openInternalServer({
    host: '127.0.0.1', port: 0, url: null, masterKey, self, logger, timers,
    handler: {
      open: (_, link) => {
        link.send({ kind: 'here', term: 1, status: 'active' })
        return { message: () => undefined, closed: () => undefined }
      },
      end: async () => null,
    },
  })
  console.log(server.address)
} else {
  createLiveLinks({ masterKey, logger, timers }).open({ ...self, address }, 7, {
    message: () => console.log('open'),
    closed: (reason) => console.log(`closed: ${reason}`),
  })
}
