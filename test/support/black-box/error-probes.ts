import assert from 'node:assert/strict'
import { on, once } from 'node:events'
import { WebSocket } from 'ws'
import { eventually } from '../tools/eventually.ts'
import { createLive, FORM, socketAddress, type Probe } from './probe.ts'
import { requestOf, type RawAnswer } from './raw-http.ts'
import { ROOT } from './subject.ts'

const hasDetail = ({ headers, body }: RawAnswer): void => {
  assert.match(headers.get('content-type') ?? 'no content type', /^application\/json/)
  assert.equal(typeof (JSON.parse(body) as { detail?: unknown }).detail, 'string')
}

/** Wrong requests get clear answers. They change nothing and reveal nothing. */
export const ERROR_PROBES: ReadonlyArray<Probe> = [
  {
    name: 'a change that is not JSON is refused with 415',
    run: async (subject) => {
      const token = await subject.logIn(ROOT)
      const user = { username: 'ada', password: 'ada has a password' }
      const { body } = await subject.json('POST', '/users/', { token, body: user })
      const { id } = body['data'] as { id: number }
      for (const type of ['text/plain', FORM]) {
        const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type, Connection: 'close' }
        const answer = await subject.raw(requestOf('PUT', `/users/${id}`, headers, '{"is_active":false}'))
        assert.equal(answer.status, 415)
        hasDetail(answer)
      }
    },
  },
  {
    name: 'a broken request is logged without its content',
    settings: { STENOLOG_LOG_LEVEL: 'trace' },
    run: async (subject) => {
      const secret = 'Bearer-of-a-secret-that-no-log-may-hold'
      const before = subject.output().length
      await subject.raw(`GET /lives HTTP/1.1\r\nHost: a\r\nAuthorization: ${secret}\r\nBro ken header: x\r\n\r\n`)
      const json = { 'Content-Type': 'application/json', Authorization: secret, Connection: 'close' }
      await subject.raw(requestOf('POST', '/lives', json, `{"password": "${secret}`))
      const chunked = { Authorization: secret, 'Content-Type': FORM, 'Transfer-Encoding': 'chunked' }
      await subject.raw(`${requestOf('POST', '/login', chunked)}zz${secret}\r\n`)
      await eventually(() => assert.match(subject.output().slice(before), /HPE_|parse|client error|request/i))
      assert.ok(!subject.output().includes(secret))
      assert.ok(!subject.output().includes(Buffer.from(secret).toString('hex')))
      assert.ok(!/rawPacket/.test(subject.output()), 'the raw packet is not logged')
    },
  },
  {
    name: 'the set-up link uses the public URL and the base path',
    // test/e2e/service/interface/link-hosts.test.ts also tests this.
    isHeavy: true,
    settings: { STENOLOG_PUBLIC_URL: 'https://captions.example.org', STENOLOG_BASE_PATH: '/live' },
    withAdmin: false,
    run: async (subject) => {
      await eventually(() => assert.match(subject.output(), /https:\/\/captions\.example\.org\/live\/setup#token=/))
    },
  },
  {
    name: 'the last administrator cannot be disabled or lose the permission',
    run: async (subject) => {
      const token = await subject.logIn(ROOT)
      const me = (await subject.json('GET', '/users/me', { token })).body
      const id = Number((me['data'] as { id?: number } | undefined)?.id ?? me['id'] ?? 1)
      for (const body of [{ is_active: false }, { permissions: [] }]) {
        const { status } = await subject.json('PUT', `/users/${id}`, { token, body })
        assert.ok(status >= 400 && status < 500, `${JSON.stringify(body)} was answered with ${status}`)
      }
      assert.equal((await subject.json('GET', '/users/', { token })).status, 200)
    },
  },
  {
    name: 'an offer of HTTP/2 is ignored and the request is answered',
    run: async (subject) => {
      const settings = 'AAMAAABkAAQCAAAAAAIAAAAA'
      const offer = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': settings }
      assert.equal((await subject.raw(requestOf('GET', '/version', offer))).status, 200)
      const form = new URLSearchParams(ROOT).toString()
      const answer = await subject.raw(requestOf('POST', '/login', { ...offer, 'Content-Type': FORM }, form))
      assert.equal(answer.status, 200)
    },
  },
  {
    name: 'a refusal by Node has the same kind of body as every other refusal',
    run: async (subject) => {
      const cases = [
        [400, 'GET / HTTP/1.1\r\nHost: a\r\nBro ken: x\r\n\r\n'],
        [431, requestOf('GET', '/version', { 'X-Long': 'a'.repeat(100_000) })],
        [417, requestOf('POST', '/login', { Expect: 'a-miracle', 'Content-Type': FORM }, 'username=a')],
      ] as const
      for (const [status, request] of cases) {
        const answer = await subject.raw(request)
        assert.equal(answer.status, status)
        hasDetail(answer)
      }
    },
  },
  {
    name: 'a GET request without upgrade to the path of a socket is answered with 426',
    run: async (subject) => {
      const live = await createLive(subject, await subject.logIn(ROOT))
      const answer = await subject.raw(requestOf('GET', `/ws/live/${live.id}`, { Connection: 'close' }))
      assert.equal(answer.status, 426)
      assert.match(answer.headers.get('upgrade') ?? '', /websocket/i)
      hasDetail(answer)
    },
  },
  {
    name: 'null in a config frame counts as absent, and so does an empty token',
    run: async (subject) => {
      const live = await createLive(subject, await subject.logIn(ROOT))
      const socket = new WebSocket(`${socketAddress(subject, live)}?token=&token_sender=${live.sender_token}`)
      await once(socket, 'open')
      socket.send('{"type":"config","min_buffer":null}')
      const statuses: Array<unknown> = []
      for await (const [frame] of on(socket, 'message', { close: ['close'] })) {
        const { status, type } = JSON.parse(String(frame)) as { readonly status?: string; readonly type?: string }
        statuses.push(status ?? type)
        if (type === 'error' || status === 'started') break
      }
      socket.terminate()
      assert.equal(statuses.at(-1), 'started')
    },
  },
]
