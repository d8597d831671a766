import test from 'ava'
import type { Json, Listing } from '../../../support/service/client.ts'
import { sharedTestService } from '../../../support/service/shared-service.ts'

const service = sharedTestService()

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?[+-]\d\d:\d\d$/

const rows = async (path: string): Promise<Listing<Json>> => {
  const { status, body } = await service.anonymous().get<Listing<Json>>(path)
  if (status !== 200) throw new Error(`${path} answered ${status} ${JSON.stringify(body)}`)
  return body
}

const identities = async (path: string): Promise<ReadonlyArray<unknown>> =>
  (await rows(path)).data.map((row) => row['iso_639_1'] ?? row['name'])

test('the list of languages has 98 complete entries with real two-letter codes', async (t) => {
  const { data, pagination } = await rows('/languages/')
  t.deepEqual(pagination, { total_items: 98, total_pages: 1, current_page: 1, per_page: 100 })
  t.is(data.length, 98)
  const codes = data.map((row) => String(row['iso_639_1']))
  t.is(new Set(codes).size, 98)
  t.deepEqual(
    codes.filter(
      (code) => !/^[a-z]{2}$/.test(code) || new Intl.DisplayNames('en', { type: 'language' }).of(code) === code,
    ),
    [],
  )
  t.deepEqual(['haw', 'yue', 'jw'].filter((code) => codes.includes(code)), [])
  t.true(codes.includes('jv'))
  for (const row of data) {
    t.deepEqual(Object.keys(row), ['id', 'iso_639_1', 'name', 'active', 'created_at', 'updated_at'])
    t.true(Number.isSafeInteger(row['id']) && Number(row['id']) > 0)
    t.is(typeof row['active'], 'boolean')
    t.regex(String(row['name']), /^[A-Z][A-Za-z ]+$/)
    t.regex(String(row['created_at']), DATE)
    t.is(row['updated_at'], null)
  }
  const ids = data.map((row) => Number(row['id']))
  t.deepEqual(ids, ids.toSorted((a, b) => a - b), 'ordered by id')
})

test('both language filters are exact and combine with AND', async (t) => {
  t.deepEqual(await identities('/languages/?name=French'), ['fr'])
  t.deepEqual(await identities('/languages/?name=fren'), [])
  t.deepEqual(await identities('/languages/?name=french'), [])
  t.deepEqual(await identities('/languages/?iso_639_1=fr'), ['fr'])
  t.deepEqual(await identities('/languages/?iso_639_1=FR'), [])
  t.deepEqual(await identities('/languages/?iso_639_1=fr&name=French'), ['fr'])
  t.deepEqual(await identities('/languages/?iso_639_1=fr&name=German'), [])
  const { pagination } = await rows('/languages/?iso_639_1=fr&limit=10')
  t.deepEqual(pagination, { total_items: 1, total_pages: 1, current_page: 1, per_page: 10 })
})

test('the five documented models are listed inactive, demo-en is active, and the filter is exact', async (t) => {
  const { data } = await rows('/models')
  t.deepEqual((await rows('/models/')).data, data)
  const names = data.map((row) => String(row['name']))
  t.is(new Set(names).size, names.length)
  for (const name of ['tiny', 'medium', 'large_v1', 'large_v2', 'large-v3'])
    t.is(data.find((row) => row['name'] === name)?.['active'], false, name)
  t.is(data.find((row) => row['name'] === 'demo-en')?.['active'], true)
  for (const row of data) {
    t.deepEqual(Object.keys(row), ['id', 'name', 'active', 'vram', 'created_at', 'updated_at', 'options'])
    t.true(Number.isSafeInteger(row['vram']) && Number(row['vram']) > 0)
    t.regex(String(row['created_at']), DATE)
  }
  t.deepEqual(await identities('/models?name=large-v3'), ['large-v3'])
  t.deepEqual(await identities('/models/?name=large_v3'), [])
  t.true((await rows('/languages/?iso_639_1=en')).data[0]?.['active'])
})

test('a filter without a matching translation pair returns an empty list', async (t) => {
  const empty = { data: [], pagination: { total_items: 0, total_pages: 0, current_page: 1, per_page: 100 } }
  for (const query of ['?lang_from=ja&lang_to=fr', '?lang_to=en', '?lang_from=nowhere', '?lang_from=EN'])
    t.deepEqual((await service.anonymous().get(`/translations/${query}`)).body, empty)
})

test('version, health and metrics are public', async (t) => {
  const version = await service.anonymous().get('/version')
  t.deepEqual(version.body, { version: '0.6.2' })
  t.regex(version.headers.get('x-service-version') ?? '', /^\d+\.\d+\.\d+/)
  t.is((await service.anonymous().get('/health/live')).status, 200)
  const ready = await service.anonymous().get('/health/ready')
  t.is(ready.status, 200)
  t.is(ready.body['status'], 'ok')
  const metrics = await service.anonymous().get<string>('/metrics')
  t.regex(metrics.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  t.regex(metrics.body, /^stenolog_vram_total_megabytes 100000$/m)
  t.regex(metrics.body, /^stenolog_projection_lag_seconds\{projection="[a-z-]+"\} [\d.e-]+$/m)
})
