import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:http'
import { createServer as createTcpServer, connect as connectTcp, type AddressInfo } from 'node:net'
import { connect as connectTls, createServer as createTlsServer, type ConnectionOptions } from 'node:tls'
import test from 'ava'
import { createThrottledWarnings } from '../../../infrastructure/process-links/throttled-warnings.ts'
import { preSharedKey } from '../../../infrastructure/process-links/pre-shared-key.ts'
import { limitUnauthenticated } from '../../../infrastructure/process-links/unauthenticated-connections.ts'
import { deriveKey } from '../../../infrastructure/keys/master-key.ts'
import { resetConnections } from '../../support/tools/reset-connections.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { openTcpProxy } from '../../support/tools/tcp-proxy.ts'
import { createManualTimers } from '../../support/doubles/manual-timers.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import {
  SELF, KEY, PATH, openWorker, dialWorker, until, untilClosed, assertServing,
} from '../../support/worlds/internal-port.ts'

test('a peer with another master key is refused everywhere and logged once', async (t) => {
  const { peer, logger, opened } = await openWorker(t)
  const stranger = randomBytes(32)
  for (let n = 0; n < 5; n += 1) {
    const { ends, messages } = dialWorker(t, peer, stranger)
    await until(() => ends.length === 1)
    t.deepEqual(messages, [])
  }
  const { links } = dialWorker(t, peer, stranger)
  const ended = await links.end(peer, { liveId: 7, end: {} }, 60_000)
  t.is(ended._tag, 'Left')
  t.deepEqual(opened, [])
  t.is(logger.lines.filter(({ message }) => message === 'a connection to the internal port was refused').length, 1)
  t.false(JSON.stringify(logger.lines).includes(deriveKey(KEY, 'links').toString('hex')))
  await assertServing(t, peer)
})

const psk = deriveKey(KEY, 'links')
const REFUSED: ReadonlyArray<readonly [string, ConnectionOptions]> = [
  ['TLS without a key', { rejectUnauthorized: false }],
  [
    'TLS 1.2 with the key',
    {
      minVersion: 'TLSv1.2',
      maxVersion: 'TLSv1.2',
      ciphers: 'PSK',
      pskCallback: () => ({ psk, identity: 'stenolog' }),
    },
  ],
  ['the key under another name', { pskCallback: () => ({ psk, identity: 'somebody' }) }],
  [
    'another key derived from the master key',
    { pskCallback: () => ({ psk: deriveKey(KEY, 'hmac'), identity: 'stenolog' }) },
  ],
  ['the master key itself', { pskCallback: () => ({ psk: KEY, identity: 'stenolog' }) }],
]
for (const [peerKind, options] of REFUSED) {
  test(`the internal port refuses ${peerKind}`, async (t) => {
    const { server, peer, opened } = await openWorker(t)
    const socket = connectTls({
      port: server.port,
      host: '127.0.0.1',
      checkServerIdentity: () => undefined,
      ...options,
    })
    let isSecure = false
    socket.on('secureConnect', () => void (isSecure = true)).on('error', () => undefined)
    await untilClosed(socket)
    t.false(isSecure)
    t.deepEqual(opened, [])
    await assertServing(t, peer)
  })
}

test('the internal port accepts the right key', async (t) => {
  const { server } = await openWorker(t)
  const socket = connectTls({
    port: server.port,
    host: '127.0.0.1',
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk, identity: 'stenolog' }),
  })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  t.is(socket.getProtocol(), 'TLSv1.3')
  t.is(socket.getCipher().name, 'TLS_AES_128_GCM_SHA256')
  t.deepEqual(socket.getPeerCertificate(), {} as never)
})

test('any number of plain HTTP or junk connections is refused while peers with the key connect', async (t) => {
  const { server, peer, logger, opened } = await openWorker(t)
  const plain = request({ port: server.port, host: '127.0.0.1', path: PATH })
  plain.on('error', () => undefined).end()
  await untilClosed(plain)
  let closed = 0
  const flood = Array.from({ length: 500 }, (_, n) => {
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => undefined).once('close', () => void (closed += 1)).resume()
    // Every second connection stays silent until the server closes it.
    if (n % 2 === 0) socket.write(randomBytes(1000))
    return socket
  })
  t.teardown(() => flood.forEach((socket) => socket.destroy()))
  await assertServing(t, peer)
  await until(() => closed === flood.length)
  await assertServing(t, peer)
  t.is(opened.length, 2)
  t.true(logger.lines.filter(({ level }) => level !== 'info').length <= 2)
})

test('the oldest unauthenticated connection is closed for a new one; authenticated ones do not count', async (t) => {
  const server = createTlsServer({ ...preSharedKey(KEY).server, handshakeTimeout: 600_000 }).listen(0, '127.0.0.1')
  t.teardown(() => void server.close())
  await once(server, 'listening')
  let dropped = 0
  limitUnauthenticated(server, () => void (dropped += 1), 2)
  const { port } = server.address() as AddressInfo
  const ends: Array<number> = []
  const openSilent = async (n: number): Promise<void> => {
    const accepted = once(server, 'connection')
    const socket = connectTcp(port, '127.0.0.1').on('error', () => undefined).once('close', () => void ends.push(n))
    t.teardown(() => socket.destroy())
    await accepted
  }
  for (let n = 0; n < 3; n += 1) {
    const member = preSharedKey(KEY).dial('127.0.0.1', port)
    t.teardown(() => member.destroy())
    await Promise.all([once(member, 'secureConnect'), once(server, 'secureConnection')])
  }
  await openSilent(1)
  await openSilent(2)
  t.is(dropped, 0)
  await openSilent(3)
  await until(() => ends.length === 1)
  t.deepEqual([dropped, ends], [1, [1]])
})

test('a replayed handshake opens no link', async (t) => {
  const { server, peer, opened, messages } = await openWorker(t)
  const proxy = await openTcpProxy(() => server.port, { isRecording: true })
  t.teardown(proxy.close)
  const dialled = dialWorker(t, { ...peer, address: proxy.address })
  dialled.link.send({ kind: 'text', text: 'secret words' })
  await until(() => messages.length === 1 && dialled.messages.length === 1)
  const [recorded = Buffer.alloc(0)] = proxy.received()
  t.true(recorded.byteLength > 500)
  t.false(recorded.includes('secret words'))
  t.false(recorded.includes('lives/7'))
  const replayed = connectTcp(server.port, '127.0.0.1').on('error', () => undefined)
  replayed.write(recorded)
  replayed.resume()
  await untilClosed(replayed)
  t.is(opened.length, 1)
  t.is(messages.length, 1)
})

test('a server without the key receives no message', async (t) => {
  const received: Array<Buffer> = []
  const stranger = createTcpServer((socket) => void socket.on('error', () => undefined).on('data', (data: Buffer) => {
    received.push(data)
    socket.write(Buffer.from('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n'))
  })).listen(0, '127.0.0.1')
  t.teardown(() => void stranger.close())
  await once(stranger, 'listening')
  const { ends, link } = dialWorker(t, { ...SELF, address: `127.0.0.1:${(stranger.address() as AddressInfo).port}` })
  link.send({ kind: 'text', text: 'secret words' })
  await until(() => ends.length === 1)
  t.false(Buffer.concat(received).includes('secret words'))
})

test('the first warning of a kind is logged at once, the following ones as a count each minute', (t) => {
  const clock = createManualTimers()
  const logger = createRecordingLogger()
  const warnings = createThrottledWarnings(logger, clock)
  const logged = () => logger.lines.map(({ fields }) => fields)
  warnings.warn('refused', { n: 1 })
  for (let n = 2; n <= 100; n += 1) warnings.warn('refused', { n })
  warnings.warn('something else', {})
  t.deepEqual(logged(), [{ n: 1 }, {}])
  clock.advance(60_000)
  t.deepEqual(logged().slice(2), [{ n: 100, times: 99 }])
  warnings.warn('refused', { n: 101 })
  clock.advance(120_000)
  t.deepEqual(logged().slice(3), [{ n: 101, times: 1 }])
  t.is(clock.size(), 0)
  warnings.warn('refused', { n: 102 })
  t.is(logger.lines.length, 5)
  warnings.close()
  t.is(clock.size(), 0)
  warnings.warn('refused', { n: 103 })
  t.deepEqual([logger.lines.length, clock.size()], [6, 0], 'no timer is left after close')
})

/** A reset without a handler would end the process of this test. */
test('connections that are reset at any byte do not disturb the internal port', async (t) => {
  const { server, peer, opened } = await openWorker(t)
  const random = chanceOf(t).random('resets')
  const head = 'HTTP/1.1\r\nhost: x\r\n'
  const open = `GET ${PATH} ${head}connection: upgrade\r\nupgrade: websocket\r\n`
    + 'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n\x82\x85\x00\x00'
  const end = `POST ${PATH.replace('link', 'end')} ${head}content-length: 10\r\n\r\n{"end":{}}`
  const messages = [open, open.replace('/1/', '/2/'), open.replace('sec-websocket-key', 'x'), end]
  const bytes = (): string => {
    const message = messages[Math.floor(random() * messages.length)] ?? ''
    return message.slice(0, Math.floor(Math.min(1, random() * 2) * message.length))
  }
  await resetConnections({ to: server.port, bytes, count: 200 })
  const dial = () => preSharedKey(KEY).dial('127.0.0.1', server.port)
  await resetConnections({ to: dial, bytes, count: 200, parallel: 20 })
  t.true(opened.length > 0, 'some links opened')
  await assertServing(t, peer)
})
