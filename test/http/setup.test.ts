import test from 'ava'
import * as TE from 'fp-ts/lib/TaskEither.js'
import { startHttp } from './http-service.ts'

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const BODY = { token: 'good', username: 'root', password: 'long enough' }

test('the set-up link makes the first administrator', async (t) => {
  const http = await startHttp(t, { isSetUp: () => TE.right(false) })
  const response = await http.send('POST', '/setup', { body: BODY })
  t.is(response.status, 200)
  const { data } = (await response.json()) as { readonly data: Readonly<Record<string, unknown>> }
  t.deepEqual([data['id'], data['username']], [1, 'root'])
})

test('a token that is not the one is 403; what is typed badly is 422 at its place', async (t) => {
  const http = await startHttp(t, { isSetUp: () => TE.right(false) })
  const refused = await http.send('POST', '/setup', { body: { ...BODY, token: 'guess' } })
  t.deepEqual([refused.status, await refused.json()], [403, { detail: 'Setup link is invalid, expired or already used' }])
  for (const [members, at] of [
    [{ token: '' }, 'token'], [{ token: undefined }, 'token'], [{ username: '' }, 'username'], [{ username: 'a\u0007' }, 'username'],
    [{ password: '1234567' }, 'password'], [{ password: 'x'.repeat(1025) }, 'password'],
  ] as const) {
    const response = await http.send('POST', '/setup', { body: { ...BODY, ...members } })
    const { detail } = (await response.json()) as { readonly detail: ReadonlyArray<{ readonly loc: unknown }> }
    t.deepEqual([response.status, detail.map(({ loc }) => loc)], [422, [['body', at]]])
  }
})

test('once there is an administrator, set-up is over: the page says so and a request is 403', async (t) => {
  const http = await startHttp(t, { isSetUp: () => TE.right(true), setUp: () => TE.left({ _tag: 'SetupRefused', reason: 'used' }) })
  const page = await http.send('GET', '/setup')
  t.is(page.status, 200)
  const html = await page.text()
  t.true(html.includes('Stenolog is set up'))
  t.false(html.includes('<form'))
  t.is((await http.send('POST', '/setup', { body: BODY })).status, 403)
})

test('S41: pages work under their own policy: no inline code, and every file that they name is served', async (t) => {
  const http = await startHttp(t, { isSetUp: () => TE.right(false) })
  for (const base of ['/setup', '/embed/live/7'].flatMap((path) => [path, `${path}/`, `/api/v1${path}`, `/api/v1${path}/`])) {
    const page = await http.send('GET', base)
    if (base.includes('setup')) t.is(page.headers.get('content-security-policy'), POLICY)
    t.is(page.headers.get('content-type'), 'text/html; charset=utf-8')
    const html = await page.text()
    t.notRegex(html, /<script(?![^>]* src=)|<style| style=| on[a-z]+=/)
    const files = Array.from(html.matchAll(/(?:src|href)="((?!data:)[^"]+)"/g), ([, file]) => new URL(file ?? '', `${http.url}${base}`))
    t.is(files.length, 2)
    for (const file of files) {
      const asset = await fetch(file)
      t.is(asset.status, 200, file.pathname)
      t.regex(asset.headers.get('content-type') ?? '', file.pathname.endsWith('.js') ? /^text\/javascript/ : /^text\/css/)
    }
  }
})

test('every field of the page has a label, and messages are announced', async (t) => {
  const http = await startHttp(t, { isSetUp: () => TE.right(false) })
  const html = await (await http.send('GET', '/setup')).text()
  const inputs = Array.from(html.matchAll(/<input id="(\w+)"/g), ([, id]) => id)
  t.deepEqual(inputs, ['username', 'password', 'repeat'])
  for (const id of inputs) t.true(html.includes(`<label for="${id}">`))
  t.regex(html, /role="alert"/)
  t.regex(html, /role="status"/)
})
