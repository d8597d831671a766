import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import test from 'ava'
import { WebSocket } from 'ws'
import type { LiveJson } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { fuzzFrames } from '../../../support/load/fuzz-frames.ts'
import { runTestService } from '../../../support/service/service.ts'

const service = await runTestService({ WS_ORIGINS: '*' })
test.after.always(() => service.dispose())

/** Opens a WebSocket as a raw TCP connection, so the test controls every byte. */
const raw = async (
  live: LiveJson,
  role: 'sender' | 'listener',
  headers = '',
): Promise<{ readonly socket: Socket; readonly read: () => Buffer }> => {
  const { port } = new URL(service.url())
  const socket = connect(Number(port), '127.0.0.1')
  let read = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => (read = Buffer.concat([read, chunk])))
  socket.on('error', () => undefined)
  const token = role === 'sender' ? live.sender_token : live.listener_token
  socket.write(
    `GET ${live.relative_path}?token=${token} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`,
  )
  await eventually(() => {
    if (!read.includes('"connection"')) throw new Error('not open yet')
  })
  return { socket, read: () => read }
}

const MASK = [0, 0, 0, 0]
/** Returns the code of the close frame at the end of the bytes, or null without one. */
const closeCode = (bytes: Buffer): number | null => {
  const start = bytes.lastIndexOf(0x88)
  return start === -1 || bytes.length < start + 4 ? null : bytes.readUInt16BE(start + 2)
}

test('the WebSocket library has no known memory exhaustion vulnerability', async (t) => {
  const { version } = JSON.parse(await readFile('node_modules/ws/package.json', 'utf8')) as { readonly version: string }
  const [major = 0, minor = 0] = version.split('.').map(Number)
  t.true(major > 8 || (major === 8 && minor >= 21), version)
})

test('compression is never negotiated, and WS_ORIGINS=* accepts every origin', async (t) => {
  const client = await service.user('compressing')
  const live = await client.createLive()
  const { socket, read } = await raw(
    live,
    'listener',
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\nOrigin: null\r\n',
  )
  t.regex(read().toString('latin1'), /^HTTP\/1\.1 101 /)
  t.notRegex(read().toString('latin1'), /sec-websocket-extensions/i)
  socket.destroy()
})

const VIOLATIONS: ReadonlyArray<readonly [string, Buffer, number]> = [
  ['a frame without a mask', Buffer.from([0x81, 2, 0x7b, 0x7d]), 1002],
  ['reserved bits', Buffer.from([0xf1, 0x80, ...MASK]), 1002],
  ['an unknown opcode', Buffer.from([0x83, 0x80, ...MASK]), 1002],
  ['a ping of 126 bytes', Buffer.from([0x89, 0xfe, 0, 126, ...MASK]), 1002],
  ['a continuation without a first fragment', Buffer.from([0x80, 0x80, ...MASK]), 1002],
  ['a huge length', Buffer.from([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, ...MASK]), 1009],
  ['a length over the sender’s limit', Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 8, 0, 1, ...MASK]), 1009],
  ['invalid UTF-8', Buffer.from([0x81, 0x82, ...MASK, 0xc3, 0x28]), 1007],
  ['a reserved close code', Buffer.from([0x88, 0x82, ...MASK, 0x03, 0xed]), 1002],
  [
    '100 000 fragments',
    Buffer.concat([
      Buffer.from([0x01, 0x80, ...MASK]),
      Buffer.concat(Array.from({ length: 100_000 }, () => Buffer.from([0x00, 0x80, ...MASK]))),
    ]),
    1008,
  ],
]

test('a violation of the WebSocket protocol closes only that socket and ends only its session', async (t) => {
  const client = await service.user('violating', { max_sessions: 100 })
  const other = await client.createLive()
  const bystander = await client.socket(other, 'listener')
  for (const [violation, bytes, code] of VIOLATIONS) {
    const live = await client.createLive()
    const listener = await client.socket(live, 'listener')
    const { socket, read } = await raw(live, 'sender')
    socket.write(bytes)
    await eventually(() => {
      if (closeCode(read()) !== code) throw new Error(`${violation}: ${String(closeCode(read()))}`)
    })
    socket.destroy()
    t.deepEqual(await listener.closed, { code: 1000, reason: '' }, violation)
    await client.untilStatus(live, 'finished')
  }
  const { socket, read } = await raw(other, 'listener')
  socket.write(Buffer.from([0x82, 0xfe, 0x10, 0x01, ...MASK]))
  await eventually(() => {
    if (closeCode(read()) !== 1009) throw new Error('the frame of 4 KiB + 1 byte is not refused yet')
  })
  socket.destroy()
  bystander.send({ type: 'ping' })
  await bystander.frame(({ type }) => type === 'pong')
  t.is((await client.get('/health/ready')).status, 200)
})

test('2,000 fuzzed frames cause only documented frames and closes, and no error is logged', async (t) => {
  const client = await service.user('fuzzing', { max_sessions: 1000 })
  t.deepEqual((await fuzzFrames(client, 2000)).surprises, [])
  t.is((await client.get('/health/ready')).status, 200)
  t.notRegex(service.log(), /"level":"?(error|fatal|50|60)/)
})

test(
  'a sender that reconnects at once is refused or finds the session ended, so two senders never send at once',
  async (t) => {
    const client = await service.user('hurrying')
    const live = await client.createLive()
    const first = await client.socket(live, 'sender')
    first.terminate()
    const reconnected = await Promise.all(Array.from({ length: 20 }, () => client.socket(live, 'sender')))
    const codes = await Promise.all(reconnected.map(async ({ closed }) => (await closed).code))
    // A new sender that connects just before the session ends is closed with code 1000.
    t.deepEqual(codes.filter((code) => ![4409, 4410, 1000].includes(code)), [])
    await client.untilStatus(live, 'finished')
  },
)

test(
  'an address may hold 200 silent connections; the longest silent ones get 429, and requests still work',
  async (t) => {
    const guarded = await runTestService({ RATE_LIMIT: '50' })
    t.teardown(guarded.dispose)
    const { port } = new URL(guarded.url())
    const connectFrom = (localAddress: string): Socket => {
      const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress }).on('error', () => undefined)
      t.teardown(() => socket.destroy())
      return socket
    }
    const idle: Array<Socket> = []
    for (let i = 0; i < 200; i += 1) {
      const socket = connectFrom('127.0.0.2')
      await once(socket, 'connect')
      idle.push(socket)
    }
    const [longest] = idle
    const refused = longest === undefined ? undefined : once(longest, 'data')
    idle.push(connectFrom('127.0.0.2'))
    const [answer] = (await refused) as [Buffer]
    t.regex(answer.toString(), /^HTTP\/1\.1 429 [^]*Retry-After: \d+[^]*\{"detail":"Too many requests"\}$/)
    t.is((await guarded.anonymous().get('/version')).status, 200, 'another address is served')
    const client = await guarded.user('quiet')
    const { listener_token: token } = await client.createLive()
    const sockets: Array<WebSocket> = []
    // Open WebSockets do not count as silent.
    for (let i = 0; i < 210; i += 1) {
      const socket = new WebSocket(`${guarded.url().replace('http', 'ws')}/ws/live?token=${token}`)
      t.teardown(() => socket.terminate())
      await once(socket, 'open')
      sockets.push(socket)
    }
    const requesting = connectFrom('127.0.0.2')
    requesting.write('GET /version HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
    const [head] = (await once(requesting, 'data')) as [Buffer]
    t.regex(head.toString(), /^HTTP\/1\.1 200/, 'the same address is served')
    t.true(sockets.every(({ readyState }) => readyState === WebSocket.OPEN))
  },
)
