import { readFileSync } from 'node:fs'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { WAITING_LIMITS } from '../../../interfaces/http/connections/waiting-connections.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { openRaw, type RawConnection } from '../../support/tools/raw-connection.ts'
import { liveView } from './example-views.ts'
import { startHttp } from './http-service.ts'

const WAITING = { ...WAITING_LIMITS, maxReading: 2, checkEveryMs: 20 }
const COMPLETE = 'GET /version HTTP/1.1\r\nHost: localhost\r\n\r\n'

const longList = (mebibytes: number) => {
  const items = [liveView(1, { audioUrl: 'x'.repeat(mebibytes * 2 ** 20) })]
  return async () => E.right({ items, total: 1 })
}
const LIST_REQUEST = 'GET /lives HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer user\r\n\r\n'

test('a client that reads nothing is disconnected; a client that reads slowly gets the whole answer', async (t) => {
  const { url } = await startHttp(t, { listLives: longList(40) }, { unreadTimeoutMs: 6000 })
  const stuck = await openRaw(t, url)
  stuck.socket.pause()
  stuck.write(LIST_REQUEST)
  const slow = await openRaw(t, url)
  let pauses = 0
  slow.socket.on('data', () => {
    if (slow.socket.bytesRead < (pauses + 1) * 8 * 2 ** 20) return
    pauses += 1
    slow.socket.pause()
    // Four pauses together are longer than unreadTimeoutMs.
    setTimeout(() => slow.socket.resume(), 2000)
  })
  slow.write(LIST_REQUEST.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
  const list = await slow.closed()
  t.is(
    list.length - list.indexOf('\r\n\r\n') - 4,
    Number(/content-length: (\d+)/i.exec(list)?.[1]),
    'the list is complete',
  )
  // The socket is paused, so only a write shows that the connection is closed.
  await eventually(() => {
    stuck.write(' ')
    if (!stuck.socket.destroyed) throw new Error('still open')
  })
})

/** Returns how many unsent bytes the kernel holds for this server, and for how many connections. */
const heldByKernel = (url: string): readonly [bytes: number, connections: number] => {
  const port = `:${Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')}`
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n').map((line) => line.trim().split(/[\s:]+/))
  const queues = lines
    .filter((fields) => `:${fields[2]}` === port)
    .map((fields) => Number.parseInt(fields[6] ?? '0', 16))
    .filter((bytes) => bytes > 0)
  return [queues.reduce((sum, bytes) => sum + bytes, 0), queues.length]
}

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('unread answer bytes of a disconnected client are released from the kernel at once', async (t) => {
  const { url } = await startHttp(t, { listLives: longList(2) }, { unreadTimeoutMs: 1000 })
  const stuck = await openRaw(t, url)
  stuck.socket.pause()
  stuck.write(LIST_REQUEST)
  await eventually(() => {
    if (heldByKernel(url)[0] === 0) throw new Error('the kernel holds no bytes yet')
  })
  await eventually(
    () => {
      const [bytes, connections] = heldByKernel(url)
      if (bytes > 0) throw new Error(`${bytes} bytes for ${connections} connections`)
    },
    { timeoutMs: 60_000 },
  )
  t.pass()
})

test('a client with too many unread answers is disconnected', async (t) => {
  const { url, send } = await startHttp(t, { listLives: longList(24) }, { waiting: WAITING })
  const stuck: Array<RawConnection> = []
  for (let n = 0; n < 5; n += 1) {
    const connection = await openRaw(t, url)
    connection.socket.pause()
    connection.write(LIST_REQUEST)
    stuck.push(connection)
    await send('GET', '/version')
  }
  // The sockets are paused, so only a write shows that a connection is closed.
  await eventually(() => {
    for (const connection of stuck) connection.write(' ')
    if (stuck.filter(({ socket }) => !socket.destroyed).length > 2) throw new Error('more than two are open')
  })
  t.is((await send('GET', '/version')).status, 200)
})

test('a connection whose answer was read late can send its next request', async (t) => {
  const { url } = await startHttp(t, { listLives: longList(24) }, { waiting: WAITING })
  const late = await openRaw(t, url)
  late.socket.pause()
  late.write(LIST_REQUEST)
  const others = await Promise.all([openRaw(t, url), openRaw(t, url)])
  for (const connection of others) connection.socket.pause()
  for (const connection of others) connection.write(LIST_REQUEST)
  // The third unread answer disconnects the first client. This shows that the service has checked all three.
  await eventually(() => {
    late.write(' ')
    if (!late.socket.destroyed) throw new Error('not checked yet')
  })
  const [second] = others
  second.socket.resume()
  second.write(COMPLETE)
  await second.answered(2)
  t.deepEqual(second.statuses(), [200, 200])
})

test('pipelined requests run one after another, and wait while their client does not read', async (t) => {
  let listed = 0
  const list = longList(8)
  const listLives = () => {
    listed += 1
    return list()
  }
  const { url, send } = await startHttp(t, { listLives })
  const greedy = await openRaw(t, url)
  greedy.socket.pause()
  greedy.write(LIST_REQUEST.repeat(10))
  await eventually(() => {
    if (listed === 0) throw new Error('no list was requested')
  })
  // The kernel buffers some MiB of the first answers; the other answers wait, also during other requests.
  for (let n = 0; n < 20; n += 1) await send('GET', '/version')
  t.true(listed < 5, `${listed} answers are in progress`)
  greedy.socket.resume()
  await greedy.answered(10)
  t.deepEqual(new Set(greedy.statuses()), new Set([200]))
})
