import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import test, { type ExecutionContext } from 'ava'
import type { LinkHandler } from '../../../application/ports/live-links.ts'
import { preSharedKey } from '../../../infrastructure/process-links/pre-shared-key.ts'
import { openInternalServer } from '../../../infrastructure/process-links/server.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'
import {
  SELF, KEY, timers, openWorker, dialWorker, until, untilClosed, openRawLink,
} from '../../support/worlds/internal-port.ts'

test('an unknown message is ignored with a warning; a malformed message closes only its own link', async (t) => {
  const { server, peer, logger, messages, ends } = await openWorker(t)
  const other = dialWorker(t, peer)
  const socket = await openRawLink(t, server.port)
  await once(socket, 'open')
  for (let n = 0; n < 3; n += 1) socket.send(JSON.stringify({ kind: 'from-a-later-version', n }))
  socket.send(JSON.stringify({ kind: 'listen', listens: true, more: 1 }))
  await until(() => messages.length === 1)
  t.deepEqual(messages, [{ kind: 'listen', listens: true }])
  t.is(
    logger.lines.filter(({ level, fields }) => level === 'warn' && fields['kind'] === 'from-a-later-version').length,
    1,
  )
  socket.send(JSON.stringify({ kind: 'text', text: 7 }))
  socket.send(JSON.stringify({ kind: 'listen', listens: false }))
  const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
  t.is(code, 1008)
  t.regex(reason.toString(), /a message of kind text with an invalid member text/)
  await until(() => ends.length === 1)
  t.is(messages.length, 1)
  t.deepEqual(other.ends, [])
})

for (const junk of [
  '',
  'null',
  '[]',
  '{"kind":7}',
  '{',
  '{"kind":"hello"}',
  '{"kind":"sender","requestId":"","from":null}',
]) {
  test(`a link closes after the invalid message '${junk}'`, async (t) => {
    const { server, messages, ends } = await openWorker(t)
    const socket = await openRawLink(t, server.port)
    await once(socket, 'open')
    socket.send(junk)
    const [code] = (await once(socket, 'close')) as [number, Buffer]
    t.is(code, 1008)
    await until(() => ends.length === 1)
    t.deepEqual(messages, [])
  })
}

test('a message over 8 MiB ends the link on either side; 512 KiB pass, even if JSON escapes them', async (t) => {
  const { server, peer, messages, ends, opened } = await openWorker(t)
  const dialled = dialWorker(t, peer)
  const text = '\u0001'.repeat(512 * 1024)
  dialled.link.send({ kind: 'text', text })
  await until(() => messages.length === 1)
  t.deepEqual(messages, [{ kind: 'text', text }])
  opened[0]?.send({ kind: 'reply', frame: 'x'.repeat(9 * 1024 * 1024) })
  await until(() => dialled.ends.length === 1)
  t.regex(dialled.ends[0] ?? '', /too long for a link/)
  const socket = await openRawLink(t, server.port)
  await once(socket, 'open')
  socket.send(Buffer.alloc(9 * 1024 * 1024))
  await untilClosed(socket)
  await until(() => ends.length === 2)
  t.is(messages.length, 1)
})

test('a peer that does not read loses its link when too many bytes are waiting', async (t) => {
  const { server, opened, ends, logger } = await openWorker(t)
  const socket = await openRawLink(t, server.port)
  await once(socket, 'open')
  socket.pause()
  const [link] = opened
  let maxBuffered = 0
  for (let n = 0; n < 2000 && ends.length === 0; n += 1) {
    link?.send({ kind: 'reply', frame: 'x'.repeat(100_000) })
    maxBuffered = Math.max(maxBuffered, link?.buffered() ?? 0)
    if (maxBuffered > 8 * 1024 * 1024)
      await until(() => ends.length > 0 || (link?.send({ kind: 'hold', on: true }), false))
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.true(maxBuffered > 8 * 1024 * 1024)
  t.true(logger.lines.some(({ fields }) => /reads its messages too slowly/.test(String(fields['why']))))
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
  const server = await openInternalServer({
    host: '127.0.0.1',
    port: 0,
    url: null,
    masterKey: KEY,
    self: SELF,
    handler,
    logger,
    timers,
  })
  t.teardown(server.close)
  const peer = { ...SELF, address: server.address }
  const { links, link, ends } = dialWorker(t, peer)
  link.send({ kind: 'listen', listens: true })
  await until(() => ends.length === 1)
  let closedLinks = 0
  links.open(peer, 8, { message: () => undefined, closed: () => void (closedLinks += 1) })
  await until(() => closedLinks === 1)
  t.is((await links.end(peer, { liveId: 7, end: {} }, 60_000))._tag, 'Left')
})

test('an invalid request to the internal port gets its error status', async (t) => {
  const { server } = await openWorker(t)
  const requestStatus = (method: string, path: string, body: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(
        { createConnection: () => preSharedKey(KEY).dial('127.0.0.1', server.port), method, path },
        (response) => {
          response.resume()
          resolve(response.statusCode)
        },
      )
        .on('error', reject)
        .end(body)
    })
  t.is(await requestStatus('POST', '/1/lives/7/end', '{"end":{}}'), 200)
  t.is(await requestStatus('POST', '/2/lives/7/end', '{"end":{}}'), 409)
  t.is(await requestStatus('GET', '/1/lives/7/end', ''), 404)
  t.is(await requestStatus('POST', '/1/lives/0/end', '{"end":{}}'), 404)
  t.is(await requestStatus('POST', '/%zz/lives/7/end', '{"end":{}}'), 404)
  t.is(await requestStatus('POST', '/1/lives/7/end', '{"end":7}'), 400)
  t.is(await requestStatus('POST', '/1/lives/7/end', '{'), 400)
  const socket = await openRawLink(t, server.port, '/1/lives/7/end')
  const [error] = (await once(socket, 'error')) as [Error]
  t.regex(error.message, /404/)
})

test('an unreachable address closes the link exactly once', async (t) => {
  for (const address of ['', 'nowhere', '127.0.0.1:0', '[::1', 'a b:80', '127.0.0.1:99999']) {
    const { ends, link, links } = dialWorker(t, { ...SELF, address })
    t.deepEqual(ends, [])
    link.close()
    await until(() => ends.length === 1)
    t.is((await links.end({ ...SELF, address }, { liveId: 7, end: {} }, 60_000))._tag, 'Left')
  }
})

test('an occupied port and an invalid URL are refused at start', async (t) => {
  const { server } = await openWorker(t)
  const handler: LinkHandler = {
    open: () => ({ message: () => undefined, closed: () => undefined }),
    end: async () => null,
  }
  const rest = { host: '127.0.0.1', masterKey: KEY, self: SELF, handler, logger: createRecordingLogger(), timers }
  await t.throwsAsync(openInternalServer({ ...rest, port: server.port, url: null }), { message: /EADDRINUSE/ })
  await t.throwsAsync(openInternalServer({ ...rest, port: 0, url: 'nowhere' }), { message: /should be host:port/ })
})

/** Starts a separate process that serves or dials a link, and records its output. */
const startProcess = async (
  t: ExecutionContext,
  ...args: ReadonlyArray<string>
): Promise<ChildProcess & { readonly output: () => string }> => {
  const child = spawn(process.execPath, ['test/support/worlds/internal-link-process.ts', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  t.teardown(() => child.kill('SIGKILL'))
  return Object.assign(child, { output: () => output })
}

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  test(`a process detects that ${signal} stopped its worker`, async (t) => {
    const child = await startProcess(t, 'serve', KEY.toString('hex'))
    await until(() => child.output().includes('\n'))
    const { messages, ends } = dialWorker(t, { ...SELF, address: child.output().trim() })
    await until(() => messages.length === 1)
    child.kill(signal)
    await until(() => ends.length === 1)
    t.is(ends.length, 1)
  })

  test(`a worker detects that ${signal} stopped the dialling process`, async (t) => {
    const { peer, ends } = await openWorker(t)
    const child = await startProcess(t, 'dial', KEY.toString('hex'), peer.address)
    await until(() => child.output().includes('open'))
    child.kill(signal)
    await until(() => ends.length === 1)
    t.deepEqual(ends, [7])
  })
}
