/** The other process of `relay.ts`: returns every message, over links and over plain TCP. */
import { createServer, type AddressInfo } from 'node:net'
import { openInternalServer } from '../infrastructure/process-links/server.ts'
import { systemTimers as timers } from '../infrastructure/process/system-timers.ts'

const logger = { info: () => undefined, warn: () => undefined, error: () => undefined }
const server = await openInternalServer({
  host: '127.0.0.1', port: 0, url: null, masterKey: Buffer.from(process.argv[2] ?? '', 'hex'),
  self: { name: 'peer', incarnation: '1' }, logger, timers,
  handler: {
    open: (_, link) => ({
      message: (message) => {
        if (message.kind === 'text') link.send({ kind: 'reply', frame: message.text ?? '' })
      },
      closed: () => undefined,
    }),
    end: async () => null,
  },
})
const echo = createServer(
  (socket) => void socket.setNoDelay(true).on('error', () => undefined).pipe(socket),
).listen(0, '127.0.0.1', () => {
  process.send?.({ address: server.address, port: (echo.address() as AddressInfo).port })
})
