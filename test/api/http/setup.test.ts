import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { HTTP_SETTINGS, startHttp } from './http-service.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; media-src 'self'; frame-src 'self'; " +
  "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
  "trusted-types 'none'; img-src 'self' data:"

const BODY = { token: 'good', username: 'root', password: 'long enough' }

test('the set-up link creates the first administrator', async (t) => {
  const http = await startHttp(t, { isSetUp: async () => E.right(false) })
  const response = await http.send('POST', '/setup', { body: BODY })
  t.is(response.status, 200)
  const { data } = (await response.json()) as { readonly data: Readonly<Record<string, unknown>> }
  t.deepEqual([data['id'], data['username']], [1, 'root'])
})

test('a wrong set-up token is 403; an invalid member is 422 with its location', async (t) => {
  const http = await startHttp(t, { isSetUp: async () => E.right(false) })
  const refused = await http.send('POST', '/setup', { body: { ...BODY, token: 'guess' } })
  t.deepEqual(
    [refused.status, await refused.json()],
    [403, { detail: 'Setup link is invalid, expired or already used' }],
  )
  for (const [members, badMember] of [
    [{ token: '' }, 'token'],
    [{ token: undefined }, 'token'],
    [{ username: '' }, 'username'],
    [{ username: 'a\u0007' }, 'username'],
    [{ password: '1234567' }, 'password'],
    [{ password: 'x'.repeat(1025) }, 'password'],
  ] as const) {
    const response = await http.send('POST', '/setup', { body: { ...BODY, ...members } })
    const { detail } = (await response.json()) as { readonly detail: ReadonlyArray<{ readonly loc: unknown }> }
    t.deepEqual([response.status, detail.map(({ loc }) => loc)], [422, [['body', badMember]]])
  }
})

test('set-up is closed once an administrator exists: the page says so and a request is 403', async (t) => {
  const http = await startHttp(t, {
    isSetUp: async () => E.right(true),
    setUp: async () => E.left({ _tag: 'SetupRefused', reason: 'used' }),
  })
  const page = await http.send('GET', '/setup')
  t.is(page.status, 200)
  t.true((await page.text()).includes('<meta name="stenolog" content="ready"'))
  t.is((await http.send('POST', '/setup', { body: BODY })).status, 403)
})

test('pages contain no inline code, and every file they reference is served', async (t) => {
  const http = await startHttp(t, { isSetUp: async () => E.right(false) })
  const pages = ['/setup', '/embed/live/7'].flatMap((path) => [path, `${path}/`, `/api/v1${path}`, `/api/v1${path}/`])
  for (const base of [...pages, '/', '/api/v1', '/api/v1/']) {
    const page = await http.send('GET', base)
    const isConsole = !base.includes('embed')
    if (isConsole) t.is(page.headers.get('content-security-policy'), POLICY)
    t.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
    const html = await page.text()
    t.notRegex(html, /<script(?![^>]* src=)|<style| style=| on[a-z]+=/)
    const files = Array.from(
      html.matchAll(/(?:src|href)="((?!data:|docs)[^"]+)"/g),
      ([, file]) => new URL(file ?? '', `${http.url}${base}`),
    )
    t.true(isConsole ? files.length > 20 : files.length === 2)
    for (const file of files) {
      const asset = await fetch(file)
      t.is(asset.status, 200, file.pathname)
      t.regex(
        asset.headers.get('content-type') ?? '',
        /[jt]s$/.test(file.pathname) ? /^text\/javascript/ : /^text\/css/,
      )
      t.notRegex(await asset.text(), /\b(?:from|import)\s*["'][^./"']/, 'a browser cannot import packages')
    }
  }
})

test('console files are cacheable without limit, and every build has its own addresses', async (t) => {
  const http = await startHttp(t)
  const [, file = ''] = /src="([^"]+)"/.exec(await (await http.send('GET', '/')).text()) ?? []
  const current = await http.send('GET', `/${file}`)
  t.is(current.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  for (const path of [
    file.replace(/console\/[^/]+/, 'console/older'),
    file.replace('main.ts', 'tsconfig.json'),
    `${file}/..%2f..%2fx`,
  ])
    t.is((await http.send('GET', `/${path}`)).status, 404, path)
})

test('the page references its files by absolute path when PUBLIC_URL is set', async (t) => {
  const http = await startHttp(t, {}, { settings: { ...HTTP_SETTINGS, publicUrl: 'https://captions.example/steno' } })
  t.regex(await (await http.send('GET', '/')).text(), /src="\/steno\/console\/[\w-]{16}\/console\/main\.ts"/)
})
