import test from 'ava'
import { createClient } from '../../../support/service/client.ts'
import { restartedTestService } from '../../../support/service/shared-service.ts'

const service = restartedTestService()

const NOT_VALID = { detail: 'Could not validate credentials' }

const statusOf = async (token: string | undefined): Promise<number> =>
  (await createClient(service.url(), token).get('/users/me')).status

test.serial('a log-out ends only the token that was sent, also after a kill', async (t) => {
  const ended = await service.user('leaver')
  const other = await service.logIn('leaver')
  const live = await ended.createLive()
  const socket = await ended.socket(live, 'listener')
  t.is((await service.anonymous().post('/logout', {})).status, 401)
  t.is((await ended.post('/logout', { everywhere: 'yes' })).status, 422)
  const answer = await ended.post('/logout', {})
  t.deepEqual([answer.status, answer.body], [200, { message: 'Logged out' }])
  const refused = await ended.get('/users/me')
  t.deepEqual([refused.status, refused.body], [401, NOT_VALID])
  t.is((await ended.post('/logout', {})).status, 401)
  t.is(await statusOf(other.token), 200)
  t.is((await other.api.call('getLive', { path: { id: live.id } })).data.status, 'pending')
  await service.kill('SIGKILL')
  t.is((await socket.closed).code, 1006, 'the socket stayed open until the kill')
  await service.start()
  t.deepEqual([await statusOf(ended.token), await statusOf(other.token)], [401, 200])
})

test.serial('a log-out everywhere ends only the user’s logins; password, API keys and sessions stay', async (t) => {
  const [first, other] = [await service.user('everywhere'), await service.user('unaffected')]
  const second = await service.logIn('everywhere')
  const live = await first.createLive()
  const { data: key } = await first.api.call('createToken', { body: { name: 'ci' } })
  t.deepEqual((await second.post('/logout', { everywhere: true })).body, { message: 'Logged out everywhere' })
  const statuses = [await statusOf(first.token), await statusOf(second.token), await statusOf(other.token)]
  t.deepEqual(statuses, [401, 401, 200])
  t.is((await createClient(service.url(), key.token).get(`/lives/${live.id}`)).status, 200)
  t.is(await statusOf((await service.logIn('everywhere')).token), 200)
  await service.kill('SIGKILL')
  await service.start()
  t.deepEqual([await statusOf(first.token), await statusOf(key.token)], [401, 200])
})
