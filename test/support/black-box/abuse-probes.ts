import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { eventually } from '../tools/eventually.ts'
import { createLive, FORM, handshake, socketAddress, type Probe } from './probe.ts'
import { dial, requestOf } from './raw-http.ts'
import { ROOT } from './subject.ts'

/** Counts the open connections of the service in the kernel, because a client that does not read notices no close. */
const establishedAt = (url: string): number => {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  const established = new RegExp(`^ *\\d+: [0-9A-F]{8}:${port} [0-9A-F]{8}:[0-9A-F]{4} 01 `)
  return lines.filter((line) => established.test(line)).length
}

/** One client must not make the service unavailable for others. */
export const ABUSE_PROBES: ReadonlyArray<Probe> = [
  {
    name: 'incomplete requests of one client behind a streaming proxy do not block other clients',
    settings: { STENOLOG_TRUSTED_PROXIES: '127.0.0.1/32', STENOLOG_RATE_LIMIT: '10000' },
    run: async (subject) => {
      const half = (client: string): string => {
        const headers = { 'X-Forwarded-For': client, 'Content-Type': FORM, 'Content-Length': '1000' }
        return `${requestOf('POST', '/login', headers)}username=`
      }
      const held = await Promise.all(
        Array.from({ length: 260 }, async () => {
          const socket = await dial(subject.url)
          socket.on('error', () => undefined).resume()
          socket.write(half('203.0.113.7'))
          return socket
        }),
      )
      for (let n = 0; n < 20; n++) {
        const headers = { 'X-Forwarded-For': `198.51.100.${n}`, Connection: 'close' }
        assert.equal((await subject.json('GET', '/health/ready', { headers })).status, 200)
        assert.equal((await subject.json('GET', '/languages/', { headers })).status, 200)
      }
      for (const socket of held) socket.destroy()
    },
  },
  {
    name: 'a complete first request does not exempt a connection from the limit of incomplete requests',
    settings: { STENOLOG_RATE_LIMIT: '10000' },
    run: async (subject) => {
      let refused = 0
      const held = await Promise.all(
        Array.from({ length: 260 }, async () => {
          const socket = await dial(subject.url)
          socket.on('error', () => undefined).once('close', () => { refused += 1 })
          socket.write(requestOf('GET', '/version'))
          await once(socket, 'data')
          socket.on('data', (chunk: Buffer) => { if (/ 429 /.test(chunk.toString())) refused += 1 })
          socket.write(`${requestOf('POST', '/login', { 'Content-Type': FORM, 'Content-Length': '1000' })}username=`)
          return socket
        }),
      )
      await eventually(() => assert.ok(refused > 0, 'some of 260 incomplete requests are refused'))
      for (const socket of held) socket.destroy()
    },
  },
  {
    name: 'connections whose answers are not read are closed',
    isHeavy: true,
    run: async (subject) => {
      const held = await Promise.all(
        Array.from({ length: 20 }, async () => {
          const socket = await dial(subject.url)
          socket.on('error', () => undefined).pause()
          for (let n = 0; n < 5; n++) socket.write(requestOf('GET', '/docs/swagger-ui.js'))
          return socket
        }),
      )
      assert.ok(establishedAt(subject.url) > 0)
      await eventually(() => {
        assert.equal(establishedAt(subject.url), 0, 'connections that read nothing are closed')
      }, { timeoutMs: 300_000 })
      for (const socket of held) socket.destroy()
      assert.equal((await subject.json('GET', '/health/ready')).status, 200)
    },
  },
  {
    name: 'wrong tokens from an address do not block the right token from the same address',
    run: async (subject) => {
      const live = await createLive(subject, await subject.logIn(ROOT))
      const statuses = new Set<number>()
      for (let n = 0; n < 40; n++) statuses.add(await handshake(`${socketAddress(subject, live)}?token=wrong${n}`))
      assert.ok(!statuses.has(101))
      assert.equal(await handshake(`${socketAddress(subject, live)}?token=${live.listener_token}`), 101)
      assert.equal(await handshake(`${socketAddress(subject, live)}?token=${live.sender_token}`), 101)
    },
  },
  {
    name: 'wrong passwords from other addresses do not lock the owner out of an account in use',
    run: async (subject) => {
      assert.match(await subject.logIn(ROOT), /^ey/)
      const wrong = new URLSearchParams({ username: ROOT.username, password: 'a guess' }).toString()
      const login = requestOf('POST', '/login', { 'Content-Type': FORM, Connection: 'close' }, wrong)
      for (let n = 0; n < 40; n++) await subject.raw(login, `127.0.1.${n + 1}`)
      assert.match(await subject.logIn(ROOT), /^ey/, 'the owner of the account can log in')
    },
  },
  {
    name: 'the numbers of profiles and API tokens of a user are limited',
    // test/e2e/service/accounts/account-limits.test.ts also tests this.
    isHeavy: true,
    settings: { STENOLOG_RATE_LIMIT: '0' },
    run: async (subject) => {
      const token = await subject.logIn(ROOT)
      for (const [path, nameOf] of [['/user-live-configs/', 'profile'], ['/tokens/', 'token']] as const) {
        let status = 200
        for (let n = 0; n < 1100 && status === 200; n++)
          ({ status } = await subject.json('POST', path, { token, body: { name: `${nameOf} ${n}` } }))
        assert.ok(status >= 400 && status < 500, `${path} answered the last request with ${status}`)
      }
    },
  },
  {
    name: 'handshakes with a public token are limited and never block the sender',
    isHeavy: true,
    run: async (subject) => {
      const live = await createLive(subject, await subject.logIn(ROOT))
      const address = `${socketAddress(subject, live)}?token=${live.listener_token}&after=0`
      const statuses: Array<number> = []
      for (let n = 0; n < 6000 && !statuses.includes(429) && !statuses.includes(503); n += 50)
        statuses.push(...(await Promise.all(Array.from({ length: 50 }, () => handshake(address)))))
      assert.ok(statuses.includes(429) || statuses.includes(503), `one of ${statuses.length} handshakes is refused`)
      assert.equal(await handshake(`${socketAddress(subject, live)}?token=${live.sender_token}`), 101)
    },
  },
]
