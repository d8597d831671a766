import test from 'ava'
import { PATH, removeProfile, type Profile, type Profiles } from '../../../support/service/profiles.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const NOT_FOUND = { detail: 'Profile not found' }

const service = sharedTestService()

test('any profile except the last can be deleted, and its id is never reused', async (t) => {
  const client = await service.user('remover')
  const { data: second } = (await client.post<Profile>(PATH, { name: 'Second' })).body
  const [first] = (await client.get<Profiles>(PATH)).body.data
  const deleted = await removeProfile(client, first?.id ?? 0)
  t.is(deleted.status, 200)
  t.deepEqual(Object.keys(deleted.body), ['message'])
  t.is(typeof deleted.body['message'], 'string')
  t.is((await client.get(`${PATH}${first?.id}`)).status, 404)
  const refused = await removeProfile(client, second.id)
  t.is(refused.status, 400)
  t.deepEqual(Object.keys(refused.body), ['detail'])
  t.is(typeof refused.body['detail'], 'string')
  t.deepEqual((await client.get<Profiles>(PATH)).body.data, [second])
  t.true((await client.post<Profile>(PATH, { name: 'Third' })).body.data.id > second.id)
})

test('when all profiles are deleted at once, exactly one stays', async (t) => {
  const client = await service.user('racer')
  for (const count of [2, 50]) {
    const missing = count - (await client.get<Profiles>(PATH)).body.data.length
    const created = await Promise.all(
      Array.from({ length: missing }, (_, n) => client.post<Profile>(PATH, { name: `${n}` })),
    )
    t.true(created.every(({ status }) => status === 200))
    const { data } = (await client.get<Profiles>(PATH)).body
    t.is(data.length, count)
    t.deepEqual(data.map(({ id }) => id), data.map(({ id }) => id).toSorted((a, b) => a - b), 'ordered by id')
    const answers = await Promise.all(data.map(({ id }) => removeProfile(client, id)))
    t.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [...Array<number>(count - 1).fill(200), 400],
    )
    t.is((await client.get<Profiles>(PATH)).body.pagination.total_items, 1)
  }
})

test('the last profile survives 50 deletes of it at once', async (t) => {
  const client = await service.user('stubborn')
  const [only] = (await client.get<Profiles>(PATH)).body.data
  const answers = await Promise.all(Array.from({ length: 50 }, () => removeProfile(client, only?.id ?? 0)))
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [400])
  t.deepEqual((await client.get<Profiles>(PATH)).body.data, [only])
})

test('deleting another user’s profile is 404, also for a user with a single profile', async (t) => {
  const [owner, other] = [await service.user('keeper of profiles'), await service.user('single')]
  const [profile] = (await owner.get<Profiles>(PATH)).body.data
  const answer = await removeProfile(other, profile?.id ?? 0)
  t.is(answer.status, 404)
  t.deepEqual(answer.body, NOT_FOUND)
})
