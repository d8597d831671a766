import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { EventEmitter } from 'node:events'
import { request } from 'node:http'
import { createServer as createTcpServer, connect as connectTcp } from 'node:net'
import type { AddressInfo } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import type { ConnectionOptions } from 'node:tls'
import test, { type ExecutionContext } from 'ava'
import { WebSocket } from 'ws'
import type { FromWorker, LinkHandler, Peer, ToWorker, WorkerLink } from '../../application/ports/live-links.ts'
import { createLiveLinks } from '../../infrastructure/internal/client.ts'
import { createRareWarnings } from '../../infrastructure/internal/rare-warnings.ts'
import { preSharedKey } from '../../infrastructure/internal/pre-shared-key.ts'
import { openInternalServer } from '../../infrastructure/internal/server.ts'
import { boundUnproved } from '../../infrastructure/internal/unproved.ts'
import { deriveKey } from '../../infrastructure/keys/master-key.ts'
import { systemTimers } from '../../infrastructure/node/system-timers.ts'
import { eventually } from '../support/eventually.ts'
import { openLinkProxy } from '../support/link-proxy.ts'
import { createManualTimers } from '../support/manual-timers.ts'
import { createRecordingLogger } from '../support/recording-logger.ts'

const SELF = { name: 'worker-1', incarnation: '1' }
const KEY = randomBytes(32)
/** This machine may stand still for seconds. */
const timers = { after: (ms: number, task: () => void) => systemTimers.after(ms * 10, task) }
const PATH = '/1/lives/7/link'

const openWorker = async (t: ExecutionContext, masterKey = KEY) => {
  const logger = createRecordingLogger()
  const opened: Array<WorkerLink> = []
  const messages: Array<ToWorker> = []
  const ends: Array<number> = []
  const handler: LinkHandler = {
    open: (liveId, link) => {
      opened.push(link)
      link.send({ kind: 'here', term: 1, status: 'active' })
      return { message: (message) => void messages.push(message), closed: () => void ends.push(liveId) }
    },
    end: async () => null,
  }
  const server = await openInternalServer({ host: '127.0.0.1', port: 0, url: null, masterKey, self: SELF, handler, logger, timers })
  t.teardown(server.close)
  const peer: Peer = { ...SELF, address: server.address }
  return { server, peer, logger, opened, messages, ends }
}

const dial = (t: ExecutionContext, peer: Peer, masterKey = KEY) => {
  const logger = createRecordingLogger()
  const links = createLiveLinks({ masterKey, logger, timers })
  const messages: Array<FromWorker> = []
  const ends: Array<string> = []
  const link = links.open(peer, 7, { message: (message) => void messages.push(message), closed: (why) => void ends.push(why) })
  t.teardown(links.close)
  return { link, links, messages, ends, logger }
}

const until = (is: () => boolean): Promise<void> =>
  eventually(() => {
    if (!is()) throw new Error('not yet')
  }, { timeoutMs: 90_000 })

/** `once` would reject on the error that comes first. */
const gone = (emitter: EventEmitter): Promise<void> => new Promise((resolve) => void emitter.once('close', () => resolve()))

/** That a member gets in all the same. */
const serves = async (t: ExecutionContext, peer: Peer): Promise<void> => {
  const { messages, link } = dial(t, peer)
  await until(() => messages.length === 1)
  link.close()
}

test('who has another master key gets in nowhere, and is told of once', async (t) => {
  const { peer, logger, opened } = await openWorker(t)
  const stranger = randomBytes(32)
  for (let n = 0; n < 5; n += 1) {
    const { ends, messages } = dial(t, peer, stranger)
    await until(() => ends.length === 1)
    t.deepEqual(messages, [])
  }
  const { links } = dial(t, peer, stranger)
  const ended = await links.end(peer, { liveId: 7, end: {} }, 60_000)
  t.is(ended._tag, 'Left')
  t.deepEqual(opened, [])
  t.is(logger.lines.filter(({ message }) => message === 'a connection to the internal port was refused').length, 1)
  t.false(JSON.stringify(logger.lines).includes(deriveKey(KEY, 'links').toString('hex')))
  await serves(t, peer)
})

const psk = deriveKey(KEY, 'links')
const REFUSED: ReadonlyArray<readonly [string, ConnectionOptions]> = [
  ['TLS without a key', { rejectUnauthorized: false }],
  ['TLS 1.2 with the key', { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: 'PSK', pskCallback: () => ({ psk, identity: 'stenolog' }) }],
  ['the key under another name', { pskCallback: () => ({ psk, identity: 'somebody' }) }],
  ['another key derived from the master key', { pskCallback: () => ({ psk: deriveKey(KEY, 'hmac'), identity: 'stenolog' }) }],
  ['the master key itself', { pskCallback: () => ({ psk: KEY, identity: 'stenolog' }) }],
]
for (const [what, options] of REFUSED) {
  test(`no way in: ${what}`, async (t) => {
    const { server, peer, opened } = await openWorker(t)
    const socket = connectTls({ port: server.port, host: '127.0.0.1', checkServerIdentity: () => undefined, ...options })
    let isSecure = false
    socket.on('secureConnect', () => void (isSecure = true)).on('error', () => undefined)
    await gone(socket)
    t.false(isSecure)
    t.deepEqual(opened, [])
    await serves(t, peer)
  })
}

test('the key itself gets in, so that the refusals above mean something', async (t) => {
  const { server } = await openWorker(t)
  const socket = connectTls({ port: server.port, host: '127.0.0.1', checkServerIdentity: () => undefined, pskCallback: () => ({ psk, identity: 'stenolog' }) })
  t.teardown(() => socket.destroy())
  await once(socket, 'secureConnect')
  t.is(socket.getProtocol(), 'TLSv1.3')
  t.is(socket.getCipher().name, 'TLS_AES_128_GCM_SHA256')
  t.deepEqual(socket.getPeerCertificate(), {} as never)
})

test('plain HTTP and junk are refused, in any number, while members get in', async (t) => {
  const { server, peer, logger, opened } = await openWorker(t)
  const asking = request({ port: server.port, host: '127.0.0.1', path: PATH })
  asking.on('error', () => undefined).end()
  await gone(asking)
  let closed = 0
  const flood = Array.from({ length: 500 }, (_, n) => {
    const socket = connectTcp(server.port, '127.0.0.1')
    socket.on('error', () => undefined).once('close', () => void (closed += 1))
    // Every other one is silent and stays for as long as it may.
    if (n % 2 === 0) socket.write(randomBytes(1000))
    return socket
  })
  t.teardown(() => flood.forEach((socket) => socket.destroy()))
  await serves(t, peer)
  await until(() => closed === flood.length)
  await serves(t, peer)
  t.is(opened.length, 2)
  t.true(logger.lines.filter(({ level }) => level !== 'info').length <= 2)
})

test('of those that prove no key the oldest makes room; who has proved it counts no more', async (t) => {
  const server = createTlsServer({ ...preSharedKey(KEY).server, handshakeTimeout: 600_000 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  let dropped = 0
  boundUnproved(server, () => void (dropped += 1), 2)
  const { port } = server.address() as AddressInfo
  const ends: Array<number> = []
  const silent = async (n: number): Promise<void> => {
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
  await silent(1)
  await silent(2)
  t.is(dropped, 0)
  await silent(3)
  await until(() => ends.length === 1)
  t.deepEqual([dropped, ends], [1, [1]])
  server.close()
})

test('a handshake that was recorded gives nothing when it is played again', async (t) => {
  const { server, peer, opened, messages } = await openWorker(t)
  const proxy = await openLinkProxy(server.port)
  t.teardown(proxy.close)
  const near = dial(t, { ...peer, address: proxy.address })
  near.link.send({ kind: 'text', text: 'secret words' })
  await until(() => messages.length === 1 && near.messages.length === 1)
  const [recorded = Buffer.alloc(0)] = proxy.heard()
  t.true(recorded.byteLength > 500)
  t.false(recorded.includes('secret words'))
  t.false(recorded.includes('lives/7'))
  const again = connectTcp(server.port, '127.0.0.1').on('error', () => undefined)
  again.write(recorded)
  again.resume()
  await gone(again)
  t.is(opened.length, 1)
  t.is(messages.length, 1)
})

test('who answers without the key hears nothing', async (t) => {
  const heard: Array<Buffer> = []
  const stranger = createTcpServer((socket) => void socket.on('error', () => undefined).on('data', (data: Buffer) => {
    heard.push(data)
    socket.write(Buffer.from('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n'))
  })).listen(0, '127.0.0.1')
  t.teardown(() => void stranger.close())
  await once(stranger, 'listening')
  const { ends, link } = dial(t, { ...SELF, address: `127.0.0.1:${(stranger.address() as AddressInfo).port}` })
  link.send({ kind: 'text', text: 'secret words' })
  await until(() => ends.length === 1)
  t.false(Buffer.concat(heard).includes('secret words'))
})

/** A WebSocket of a member on which a test writes what it likes. */
const rawLink = async (t: ExecutionContext, port: number, path = PATH): Promise<WebSocket> => {
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, { createConnection: () => preSharedKey(KEY).dial('127.0.0.1', port) })
  socket.on('error', () => undefined)
  t.teardown(() => socket.terminate())
  return socket
}

test('a message of an unknown kind is passed over with a warning, a malformed one closes its link alone', async (t) => {
  const { server, peer, logger, messages, ends } = await openWorker(t)
  const other = dial(t, peer)
  const socket = await rawLink(t, server.port)
  await once(socket, 'open')
  for (let n = 0; n < 3; n += 1) socket.send(JSON.stringify({ kind: 'of tomorrow', n }))
  socket.send(JSON.stringify({ kind: 'listen', listens: true, more: 1 }))
  await until(() => messages.length === 1)
  t.deepEqual(messages, [{ kind: 'listen', listens: true }])
  t.is(logger.lines.filter(({ level, fields }) => level === 'warn' && fields['kind'] === 'of tomorrow').length, 1)
  socket.send(JSON.stringify({ kind: 'text', text: 7 }))
  socket.send(JSON.stringify({ kind: 'listen', listens: false }))
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  t.is(code, 1008)
  t.regex(reason.toString(), /a text whose text/)
  await until(() => ends.length === 1)
  t.is(messages.length, 1)
  t.deepEqual(other.ends, [])
})

for (const junk of ['', 'null', '[]', '{"kind":7}', '{', '{"kind":"hello"}', '{"kind":"sender","requestId":"","from":null}']) {
  test(`no message: ${junk}`, async (t) => {
    const { server, messages, ends } = await openWorker(t)
    const socket = await rawLink(t, server.port)
    await once(socket, 'open')
    socket.send(junk)
    const [code] = (await once(socket, 'close')) as [number, Buffer]
    t.is(code, 1008)
    await until(() => ends.length === 1)
    t.deepEqual(messages, [])
  })
}

test('a message longer than 8 MiB ends the link, on either side; a frame of 512 KiB of controls does not', async (t) => {
  const { server, peer, messages, ends, opened } = await openWorker(t)
  const near = dial(t, peer)
  const text = '\u0001'.repeat(512 * 1024)
  near.link.send({ kind: 'text', text })
  await until(() => messages.length === 1)
  t.deepEqual(messages, [{ kind: 'text', text }])
  opened[0]?.send({ kind: 'reply', frame: 'x'.repeat(9 * 1024 * 1024) })
  await until(() => near.ends.length === 1)
  t.regex(near.ends[0] ?? '', /too long for a link/)
  const socket = await rawLink(t, server.port)
  await once(socket, 'open')
  socket.send(Buffer.alloc(9 * 1024 * 1024))
  await gone(socket)
  await until(() => ends.length === 2)
  t.is(messages.length, 1)
})

test('a peer that does not read makes what waits grow, and loses its link when that is too much', async (t) => {
  const { server, opened, ends, logger } = await openWorker(t)
  const socket = await rawLink(t, server.port)
  await once(socket, 'open')
  socket.pause()
  const [link] = opened
  let most = 0
  for (let n = 0; n < 2000 && ends.length === 0; n += 1) {
    link?.send({ kind: 'reply', frame: 'x'.repeat(100_000) })
    most = Math.max(most, link?.buffered() ?? 0)
    if (most > 8 * 1024 * 1024) await until(() => ends.length > 0 || (link?.send({ kind: 'hold', on: true }), false))
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.true(most > 8 * 1024 * 1024)
  t.true(logger.lines.some(({ fields }) => /does not read/.test(String(fields['why']))))
})

test('a handler that throws ends its own link', async (t) => {
  const logger = createRecordingLogger()
  const handler: LinkHandler = {
    open: (liveId) => {
      if (liveId === 8) throw new Error('broken')
      return { message: () => { throw new Error('broken too') }, closed: () => { throw new Error('still broken') } }
    },
    end: () => { throw new Error('broken as well') },
  }
  const server = await openInternalServer({ host: '127.0.0.1', port: 0, url: null, masterKey: KEY, self: SELF, handler, logger, timers })
  t.teardown(server.close)
  const peer = { ...SELF, address: server.address }
  const { links, link, ends } = dial(t, peer)
  link.send({ kind: 'listen', listens: true })
  await until(() => ends.length === 1)
  let others = 0
  links.open(peer, 8, { message: () => undefined, closed: () => void (others += 1) })
  await until(() => others === 1)
  t.is((await links.end(peer, { liveId: 7, end: {} }, 60_000))._tag, 'Left')
})

test('what is asked in another way is answered with its status', async (t) => {
  const { server } = await openWorker(t)
  const ask = (method: string, path: string, body: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request({ createConnection: () => preSharedKey(KEY).dial('127.0.0.1', server.port), method, path }, (response) => {
        response.resume()
        resolve(response.statusCode)
      }).on('error', reject).end(body)
    })
  t.is(await ask('POST', '/1/lives/7/end', '{"end":{}}'), 200)
  t.is(await ask('POST', '/2/lives/7/end', '{"end":{}}'), 409)
  t.is(await ask('GET', '/1/lives/7/end', ''), 404)
  t.is(await ask('POST', '/1/lives/0/end', '{"end":{}}'), 404)
  t.is(await ask('POST', '/%zz/lives/7/end', '{"end":{}}'), 404)
  t.is(await ask('POST', '/1/lives/7/end', '{"end":7}'), 400)
  t.is(await ask('POST', '/1/lives/7/end', '{'), 400)
  const socket = await rawLink(t, server.port, '/1/lives/7/end')
  const [error] = (await once(socket, 'error')) as [Error]
  t.regex(error.message, /404/)
})

test('an address that nobody can dial closes the link once', async (t) => {
  for (const address of ['', 'nowhere', '127.0.0.1:0', '[::1', 'a b:80', '127.0.0.1:99999']) {
    const { ends, link, links } = dial(t, { ...SELF, address })
    t.deepEqual(ends, [])
    link.close()
    await until(() => ends.length === 1)
    t.is((await links.end({ ...SELF, address }, { liveId: 7, end: {} }, 60_000))._tag, 'Left')
  }
})

test('a port that is taken, and a URL that is no address, are refused at once', async (t) => {
  const { server } = await openWorker(t)
  const handler: LinkHandler = { open: () => ({ message: () => undefined, closed: () => undefined }), end: async () => null }
  const rest = { host: '127.0.0.1', masterKey: KEY, self: SELF, handler, logger: createRecordingLogger(), timers }
  await t.throwsAsync(openInternalServer({ ...rest, port: server.port, url: null }), { message: /EADDRINUSE/ })
  await t.throwsAsync(openInternalServer({ ...rest, port: 0, url: 'nowhere' }), { message: /no address/ })
})

const spawned = async (t: ExecutionContext, ...args: ReadonlyArray<string>): Promise<ChildProcess & { readonly said: () => string }> => {
  const child = spawn(process.execPath, ['test/support/links-process.ts', ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  t.teardown(() => child.kill('SIGKILL'))
  return Object.assign(child, { said: () => said })
}

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  test(`a worker that gets ${signal} is noticed`, async (t) => {
    const child = await spawned(t, 'serve', KEY.toString('hex'))
    await until(() => child.said().includes('\n'))
    const { messages, ends } = dial(t, { ...SELF, address: child.said().trim() })
    await until(() => messages.length === 1)
    child.kill(signal)
    await until(() => ends.length === 1)
    t.is(ends.length, 1)
  })

  test(`a process that dialled and gets ${signal} is noticed by its worker`, async (t) => {
    const { peer, ends } = await openWorker(t)
    const child = await spawned(t, 'dial', KEY.toString('hex'), peer.address)
    await until(() => child.said().includes('open'))
    child.kill(signal)
    await until(() => ends.length === 1)
    t.deepEqual(ends, [7])
  })
}

test('warnings of one kind: the first at once, the others once a minute as a number', (t) => {
  const clock = createManualTimers()
  const logger = createRecordingLogger()
  const warnings = createRareWarnings(logger, clock)
  const told = () => logger.lines.map(({ fields }) => fields)
  warnings.warn('refused', { n: 1 })
  for (let n = 2; n <= 100; n += 1) warnings.warn('refused', { n })
  warnings.warn('something else', {})
  t.deepEqual(told(), [{ n: 1 }, {}])
  clock.advance(60_000)
  t.deepEqual(told().slice(2), [{ n: 100, times: 99 }])
  warnings.warn('refused', { n: 101 })
  clock.advance(120_000)
  t.deepEqual(told().slice(3), [{ n: 101, times: 1 }])
  t.is(clock.size(), 0)
  warnings.warn('refused', { n: 102 })
  t.is(logger.lines.length, 5)
  warnings.close()
  t.is(clock.size(), 0)
})
