import test from 'ava'
import { resetConnections } from '../../../support/tools/reset-connections.ts'
import { startTestService } from '../../../support/service/service.ts'

/** Before the repair the service ended after 322 to 5,772 of such handshakes. */
const HANDSHAKES = 3000

const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

const PATHS = ['/ws/live?token=wrong-token-of-a-stranger', '/ws/live', '/ws/nowhere']

test('refused handshakes on connections that are reset do not end the service', async (t) => {
  const service = await startTestService(t, { RATE_LIMIT: '50' })
  const to = Number(new URL(service.url()).port)
  await resetConnections({ to, bytes: (index) => upgrade(PATHS[index % PATHS.length] ?? ''), count: HANDSHAKES })
  t.is((await service.anonymous().get('/health/live')).status, 200)
  t.notRegex(service.log(), /unexpected error/)
})
