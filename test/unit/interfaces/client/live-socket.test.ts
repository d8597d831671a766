import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import test from 'ava'
import { WebSocketServer } from 'ws'
import { openLiveSocket } from '../../../../interfaces/client/live-socket.ts'

const RESTART = { type: 'error', code: 'server_restart', detail: 'The server stops' }

test('after a restart the socket waits as long as the service says, or 5 to 30 s', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.teardown(() => server.close())
  await once(server, 'listening')
  const frames = [{ ...RESTART, retry_after: 0.25 }, RESTART, { ...RESTART, retry_after: 0 }]
  server.on('connection', (connection) => {
    const frame = frames.shift()
    if (frame === undefined) return
    connection.send(JSON.stringify(frame))
    connection.close(1012, 'server_restart')
  })
  const waits: Array<number> = []
  const done = Promise.withResolvers<void>()
  const socket = openLiveSocket({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'any',
    isReady: async () => true, onFrame: () => undefined, onState: () => undefined,
    wait: (ms) => {
      waits.push(ms)
      if (waits.length === 3) done.resolve()
      return 0
    },
  })
  await done.promise
  socket.close()
  const [first, second = 0, third] = waits
  t.deepEqual([first, third], [250, 0])
  t.true(second >= 5000 && second <= 30_000)
})
