import test from 'ava'
import type { Json, Listing } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const rows = async (path: string): Promise<Listing<Json>> => {
  const { status, body } = await service.anonymous().get<Listing<Json>>(path)
  if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`)
  return body
}

test(
  'limit is capped at 1000, bad values are 422 with their location, and a page after the end is empty',
  async (t) => {
    t.is((await rows('/languages/?limit=5000')).pagination.per_page, 1000)
    t.is((await rows('/languages/?limit=1')).data.length, 1)
    t.deepEqual((await rows('/languages/?limit=1')).pagination, {
      total_items: 98,
      total_pages: 98,
      current_page: 1,
      per_page: 1,
    })
    t.deepEqual(await rows('/languages/?skip=500'), {
      data: [],
      pagination: { total_items: 98, total_pages: 1, current_page: 6, per_page: 100 },
    })
    const admin = await service.admin()
    const lists = ['/languages/', '/models', '/translations/', '/lives/', '/users/'].map(
      (path) => ['GET', path] as const,
    )
    for (const [method, path] of [...lists, ['PUT', '/lives/finish-by-audio_url'] as const])
      for (const [name, values] of [
        ['limit', ['0', '-1', 'abc', '', '1.5', '1e2', '%201', '+1']],
        ['skip', ['-1', '1.5', 'abc', '', '2147483648']],
      ] as const)
        for (const value of values) {
          const { status, body } = await admin.request<{ readonly detail: ReadonlyArray<{ readonly loc: unknown }> }>(
            method,
            `${path}?${name}=${value}`,
            method === 'PUT' ? { headers: { 'content-type': 'application/json' }, body: '{"audio_url":"x"}' } : {},
          )
          t.is(status, 422, `${path} ${name}=${value}`)
          t.deepEqual(body.detail.map(({ loc }) => loc), [['query', name]])
        }
  },
)

test('lists link their first, previous, next and last page in a Link header', async (t) => {
  const { url, get } = await service.user('browser')
  t.is((await get('/lives/')).headers.get('link'), null, 'an empty list has no pages')
  const linksOf = (header: string | null): ReadonlyMap<string, string> =>
    new Map(
      [...(header ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, target = '', relation = '']) => [
        relation,
        target,
      ]),
    )
  const page = async (path: string) => {
    const { headers, body } = await get<Listing<Json>>(path)
    return { links: linksOf(headers.get('link')), ids: body.data.map(({ id }) => id) }
  }
  const all = await page('/languages/')
  t.deepEqual([...all.links.keys()], ['first', 'last'])
  const walked: Array<unknown> = []
  for (let next: string | undefined = '/api/v1/languages?limit=40&token=secret'; next !== undefined;) {
    const { links, ids } = await page(next)
    walked.push(...ids)
    for (const target of links.values())
      t.regex(target, new RegExp(`^${url}/languages\\?skip=\\d+&limit=40$`), 'unknown parameters are not echoed')
    next = links.get('next')?.slice(url.length)
  }
  t.deepEqual(walked, all.ids)
  t.deepEqual(
    [...(await page('/languages/?skip=50&limit=40')).links],
    [
      ['first', `${url}/languages?skip=0&limit=40`],
      ['prev', `${url}/languages?skip=10&limit=40`],
      ['next', `${url}/languages?skip=90&limit=40`],
      ['last', `${url}/languages?skip=80&limit=40`],
    ],
  )
  t.is(
    (await page('/languages/?skip=0&limit=1&name=French')).links.get('last'),
    `${url}/languages?name=French&skip=0&limit=1`,
  )
})
