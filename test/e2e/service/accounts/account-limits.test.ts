import test from 'ava'
import type { Answer, Json, Listing, Single } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const SIMULTANEOUS_REQUESTS = 110

// A new user already has one profile, so only 99 more are accepted.
for (const [path, name, accepted, refusal] of [
  ['/user-live-configs/', 'profiles', 99, 'Maximum number of profiles reached (100)'],
  ['/tokens/', 'tokens', 100, 'Maximum number of API tokens reached (100)'],
] as const)
  test(`a user may have 100 ${name}, also when they are created in parallel, and a deletion makes room`, async (t) => {
    const member = await service.user(`collector of ${name}`)
    const create = (): Promise<Answer<Single<{ readonly id: number }> & Json>> =>
      member.post(path, { name: 'one of many' })
    const answers = await Promise.all(Array.from({ length: SIMULTANEOUS_REQUESTS }, create))
    t.is(answers.filter(({ status }) => status < 300).length, accepted)
    for (const { status, body } of answers.filter((answer) => answer.status >= 300)) {
      t.is(status, 403)
      t.is(body['detail'], refusal)
    }
    const createdStatus = answers.find(({ status }) => status < 300)?.status ?? 0
    const listed = async () => (await member.get<Listing<Json>>(`${path}?limit=1000`)).body
    const { data, pagination } = await listed()
    t.is(data.length, 100)
    t.is(pagination.total_items, 100)
    t.is((await create()).status, 403)
    t.is((await member.put(`${path}${String(data[50]?.['id'])}`, { name: 'renamed' })).status, 200)
    t.is((await member.request('DELETE', `${path}${String(data[50]?.['id'])}`)).status, 200)
    t.is((await create()).status, createdStatus)
    t.is((await listed()).pagination.total_items, 100)
    t.is((await (await service.user(`another of ${name}`)).post(path, { name: 'first' })).status, createdStatus)
  })
