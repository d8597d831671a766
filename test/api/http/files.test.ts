import { posix } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { request, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import test from 'ava'
import { consoleFiles } from '../../../interfaces/http/console/console-files.ts'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { startHttp } from './http-service.ts'

const { build: BUILD } = await consoleFiles()

interface Fetched {
  readonly response: IncomingMessage
  readonly body: Buffer
}

/** Works like `fetch`, but does not decompress the body. */
const get = async (url: string, headers: Readonly<Record<string, string>>): Promise<Fetched> => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  request(url, { headers, agent: false }, resolve).on('error', reject).end()
  const response = await promise
  return { response, body: await buffer(response) }
}

test('page files are compressed as the client accepts, and a cached copy is answered with 304', async (t) => {
  const { url } = await startHttp(t)
  const paths = ROUTES.filter(({ response }) => response.isFile === true)
    .map(({ path }) => path.replace(/\{[^}]*\}/, '').replace(':build', BUILD).replace('*file', 'console/console.css'))
  t.true(paths.includes('/docs/swagger-ui.js') && paths.includes('/embed/embed.js'))
  for (const path of paths) {
    const plain = await get(url + path, { 'accept-encoding': 'identity' })
    const coded = [
      ['br', 'gzip, deflate, br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
      ['gzip', 'br;q=0, gzip;q=0.5', gunzipSync],
    ] as const
    t.is(plain.response.headers['content-encoding'], undefined)
    for (const [encoding, accepted, decode] of coded) {
      const { response, body } = await get(url + path, { 'accept-encoding': accepted })
      t.is(response.headers['content-encoding'], encoding, path)
      t.regex(response.headers.vary ?? '', /Accept-Encoding/)
      t.true(decode(body).equals(plain.body), path)
      t.not(response.headers.etag, plain.response.headers.etag, 'each encoding has its own ETag')
      t.not(response.headers['cache-control'], 'no-store')
      const cached = await get(url + path, {
        'accept-encoding': accepted,
        'if-none-match': response.headers.etag ?? '',
      })
      t.deepEqual([cached.response.statusCode, cached.body.length], [304, 0])
    }
  }
  const { body } = await get(`${url}/docs/swagger-ui.js`, { 'accept-encoding': 'br' })
  t.true(body.length < 500_000, `${body.length} bytes`)
})

test('each module that a file of the console imports is served, also a shared one of the domain', async (t) => {
  const { files } = await consoleFiles()
  const missing = [...files].flatMap(([path, { content }]) =>
    [...String(content).matchAll(/\b(?:from|import)\s*["'](\.[^"']+)["']/g)]
      .map(([, to = '']) => posix.join(posix.dirname(path), to))
      .filter((to) => !files.has(to)))
  t.deepEqual(missing, [])
  t.true(files.has('domain/audio/mix-channels.ts'))
})
