import test from 'ava'
import { linkHeader } from '../../../interfaces/http/link-header.ts'

const body = (total_items: number, per_page: number) => ({
  data: [],
  pagination: { total_items, total_pages: 0, current_page: 1, per_page },
})
const REQUEST = { webSocketBase: 'wss://captions.example/steno', prefix: '/api/v1', path: '/lives/' }

test('links point to the public address, or to the same host when it is unknown', (t) => {
  const targetOf = (address: Parameters<typeof linkHeader>[0]) =>
    linkHeader(address, { skip: 0 }, body(1, 100))?.split('?')[0]
  t.is(targetOf(REQUEST), '<https://captions.example/steno/lives')
  t.is(targetOf({ ...REQUEST, prefix: '', path: '/lives' }), '<https://captions.example/steno/lives')
  t.is(targetOf({ ...REQUEST, webSocketBase: '' }), '</api/v1/lives')
})

test('the Link header lists only existing pages', (t) => {
  const relations = (skip: number, total: number) =>
    [...(linkHeader(REQUEST, { skip }, body(total, 10)) ?? '').matchAll(/skip=(\d+)&limit=10>; rel="(\w+)"/g)].map(
      ([, from, relation]) => `${relation} ${from}`,
    )
  t.deepEqual(relations(0, 10), ['first 0', 'last 0'])
  t.deepEqual(relations(0, 11), ['first 0', 'next 10', 'last 10'])
  t.deepEqual(relations(5, 30), ['first 0', 'prev 0', 'next 15', 'last 20'])
  t.deepEqual(relations(20, 30), ['first 0', 'prev 10', 'last 20'])
  t.deepEqual(relations(1000, 30), ['first 0', 'prev 20', 'last 20'], 'after the end, prev is the last page')
  t.deepEqual(relations(0, 0), [])
})

test('links keep the decoded query parameters, and only lists have links', (t) => {
  t.is(
    linkHeader(REQUEST, { skip: 0, limit: 5000, status: ['pending', 'a b'], name: null }, body(1, 10)),
    ['first', 'last']
      .map(
        (relation) =>
          `<https://captions.example/steno/lives?status=pending&status=a+b&skip=0&limit=10>; rel="${relation}"`,
      )
      .join(', '),
  )
  t.is(linkHeader(REQUEST, { skip: 0 }, { data: {} }), null)
  t.is(linkHeader(REQUEST, undefined, body(1, 10)), null)
})
