import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import test from 'ava'
import { createClient, handshake, logIn, type Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { ADMIN, passwordOf, runTestService, startTestService } from '../../support/service/service.ts'

const service = await runTestService({ RATE_LIMIT: '50', RECONNECT_GRACE: '10m' })
test.after.always(() => service.dispose())

const TOO_MANY = { detail: 'Too many requests' }

test.serial('RECONNECT_GRACE: a session survives the loss of its sender and continues with the next one', async (t) => {
  const client = await service.user('lossy')
  const live = await client.createLive()
  const lost = await client.socket(live, 'sender')
  lost.send({ type: 'config' })
  await lost.frame(({ status }) => status === 'started')
  lost.terminate()
  // The service may not have noticed the loss yet.
  const returned = await eventually(async () => {
    const socket = await client.socket(live, 'sender')
    socket.send({ type: 'config' })
    await socket.frame(({ status }) => status === 'started')
    return socket
  })
  returned.send({ type: 'FINISH' })
  t.is((await returned.closed).code, 1000)
})

test.serial(
  'after 30 failed handshakes or wrong API keys in a minute the address gets 429; REST still works',
  async (t) => {
    const url = `${service.url().replace('http', 'ws')}/ws/live?token=guess`
    const statuses: Array<number> = []
    for (let n = 0; n < 40; n += 1) statuses.push((await handshake(url)).status)
    t.deepEqual([...new Set(statuses)], [401, 429])
    t.is(statuses.indexOf(429), 30)
    const { headers, body } = await handshake(url)
    t.deepEqual(body, TOO_MANY)
    t.regex(headers.get('retry-after') ?? '', /^\d+$/)
    const live = await (await service.user('same address')).createLive()
    for (const token of [live.listener_token, live.sender_token])
      t.is((await handshake(url.replace('guess', token))).status, 101, 'a correct token is accepted')
    const guesses = Array.from({ length: 40 }, () =>
      service.anonymous().request('GET', '/lives', { headers: { 'x-api-key': 'lt_guess' } }),
    )
    const answers = (await Promise.all(guesses)).map(({ status }) => status)
    t.deepEqual(
      [answers.filter((status) => status === 401).length, answers.filter((status) => status === 429).length],
      [30, 10],
    )
    const member = await service.user('key owner')
    const { token } = (await member.post<Single<{ readonly token: string }>>('/tokens/', { name: 'k' })).body.data
    t.is((await createClient(service.url(), token).get('/lives')).status, 200, 'a correct key is accepted')
    t.is((await service.anonymous().get('/version')).status, 200)
  },
)

test.serial('after 30 listener tokens of other users in a minute, a user may choose no token', async (t) => {
  const [owner, guesser] = [await service.user('hall owner'), await service.user('guesser')]
  await owner.createLive({ listener_token: 'hall' })
  const guess = (listener_token: string) =>
    guesser.post('/lives', { model: 'no such model', language: 'en', listener_token })
  const answers = await Promise.all(Array.from({ length: 40 }, () => guess('hall')))
  t.is(answers.filter(({ status }) => status === 422).length, 30)
  const refused = answers.filter(({ status }) => status === 429)
  t.is(refused.length, 10)
  t.like(refused[0], { body: TOO_MANY })
  t.is((await guess('free-token')).status, 429)
  t.regex((await guesser.createLive()).listener_token, /^[\w-]{43}$/)
  t.is((await owner.createLive({ listener_token: 'hall' })).listener_token, 'hall')
})

test.serial(
  'a credential over its request rate gets 429 with Retry-After; other credentials are unaffected',
  async (t) => {
    // A rate that every machine exceeds.
    const limited = await startTestService(t, { RATE_LIMIT: '5' })
    const [busy, calm] = [await limited.user('busy'), await limited.user('calm')]
    const refused = await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, () => busy.get('/users/me')))
      const refusedAnswer = answers.find(({ status }) => status === 429)
      if (refusedAnswer === undefined) throw new Error('40 requests at once were answered no faster than 5 a second')
      return refusedAnswer
    })
    t.deepEqual([refused.headers.get('retry-after'), refused.body], ['1', TOO_MANY])
    t.is((await calm.get('/users/me')).status, 200)
    t.is((await limited.anonymous().get('/version')).status, 200)
    await eventually(async () => {
      if ((await busy.get('/users/me')).status !== 200) throw new Error('still refused')
    })
  },
)

test.serial(
  'five failed logins lock a username with Retry-After, also after a restart; a success resets the count',
  async (t) => {
    const member = await service.user('target')
    const attempt = (username: string, password: string) => service.anonymous().form('/login', { username, password })
    for (const username of ['target', 'nobody']) {
      for (let n = 0; n < 5; n += 1) {
        const wrong = await attempt(username, 'a guess')
        t.is(wrong.status, 401)
        t.deepEqual(wrong.body, { detail: 'Incorrect username or password' })
      }
      const refused = await attempt(username, passwordOf('target'))
      t.is(refused.status, 429, username)
      t.deepEqual(refused.body, TOO_MANY)
      t.regex(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    }
    t.is((await member.get('/users/me')).status, 200, 'an existing login still works')
    t.is((await logIn(service.url(), ADMIN.username, ADMIN.password)).url, service.url(), 'other users can log in')

    await service.kill('SIGKILL')
    await service.start()
    const [wrong, refused] = await eventually(async () => {
      const answers = await Promise.all([attempt('target', 'a guess'), attempt('target', passwordOf('target'))])
      if (answers[0].status !== 401) throw new Error('the lock has not ended')
      return answers
    }, { timeoutMs: 60_000 })
    t.is(wrong.status, 401)
    t.is(refused.status, 429, 'this is the sixth failure, not the first')
    t.is(refused.headers.get('retry-after'), '2')
    const client = await eventually(() => logIn(service.url(), 'target', passwordOf('target')), { timeoutMs: 60_000 })
    t.is((await client.get('/users/me')).status, 200, 'the lock ends')
    t.is((await attempt('target', 'a guess')).status, 401)
    t.is((await attempt('target', passwordOf('target'))).status, 200, 'the success has reset the count')
  },
)

/** Logs in from the given address of this machine and returns the status. */
const logInFrom = async (localAddress: string, username: string, password: string): Promise<number> => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const login = request(`${service.url()}/login`, { method: 'POST', headers, localAddress })
  login.end(new URLSearchParams({ username, password }).toString())
  const [response] = (await once(login, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode ?? 0
}

test.serial('a login lock applies to one address only, and a new password ends it everywhere', async (t) => {
  const member = await service.user('victim')
  const { id } = (await member.get<Single<{ readonly id: number }>>('/users/me')).body.data
  const lock = async (password: string): Promise<void> => {
    for (let n = 0; n < 5; n += 1) t.is(await logInFrom('127.0.0.2', 'victim', 'a guess'), 401)
    t.is(await logInFrom('127.0.0.2', 'victim', password), 429)
  }
  await lock(passwordOf('victim'))
  t.is(await logInFrom('127.0.0.3', 'victim', passwordOf('victim')), 200)
  const admin = await service.admin()
  t.is((await admin.put(`/users/${id}`, { password: 'set by an administrator' })).status, 200)
  t.is(await logInFrom('127.0.0.2', 'victim', 'set by an administrator'), 200)

  await lock('set by an administrator')
  const relogged = await logIn(service.url(), 'victim', 'set by an administrator')
  const change = { current_password: 'set by an administrator', new_password: 'chosen by the user' }
  t.is((await relogged.put('/users/me/password', change)).status, 200)
  t.is(await logInFrom('127.0.0.2', 'victim', 'chosen by the user'), 200)
})
