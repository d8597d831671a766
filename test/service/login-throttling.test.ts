import test from 'ava'
import { logIn } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { ADMIN, passwordOf, startTestService } from '../support/service.ts'

test('S24: a name that was guessed at waits with Retry-After, known or not, also after a restart; a success resets it', async (t) => {
  const service = await startTestService(t, { RATE_LIMIT: '50' })
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
    t.deepEqual(refused.body, { detail: 'Too many requests' })
    t.regex(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
  t.is((await member.get('/users/me')).status, 200, 'who is logged in notices nothing')
  t.is((await logIn(service.url(), ADMIN.username, ADMIN.password)).url, service.url(), 'nor do others')

  await service.kill('SIGKILL')
  await service.start()
  const [wrong, refused] = await eventually(async () => {
    const answers = await Promise.all([attempt('target', 'a guess'), attempt('target', passwordOf('target'))])
    if (answers[0].status !== 401) throw new Error('the wait is not over')
    return answers
  }, { timeoutMs: 60_000 })
  t.is(wrong.status, 401)
  t.is(refused.status, 429, 'the sixth failure and not the first')
  t.is(refused.headers.get('retry-after'), '2')
  const token = await eventually(() => logIn(service.url(), 'target', passwordOf('target')), { timeoutMs: 60_000 })
  t.is((await token.get('/users/me')).status, 200, 'never shut out for good')
  t.is((await attempt('target', 'a guess')).status, 401)
  t.is((await attempt('target', passwordOf('target'))).status, 200, 'the success has reset the count')
})
