import { request } from 'node:http'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { createClient } from '../support/client.ts'
import type { Json, LiveJson, Single } from '../support/client.ts'
import { eventually } from '../support/eventually.ts'
import { launch } from '../support/launch.ts'
import { startTestService } from '../support/service.ts'
import { startTestStores } from '../support/stores.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** What is printed at the first start. */
const firstStart = async (t: ExecutionContext, settings: Readonly<Record<string, string>>): Promise<{ readonly url: string; readonly link: string }> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const stores = await startTestStores()
  t.teardown(stores.dispose)
  const all = { PORT: '0', DATA_DIR: path, DRAIN_TIMEOUT: '0s', ...stores.settings, ...settings }
  const service = launch(t, Object.fromEntries(Object.entries(all).map(([name, value]) => [`STENOLOG_${name}`, value])))
  const link = await eventually(() => {
    const found = /^Create the first administrator.*: (\S+)$/m.exec(service.stdout())?.[1]
    if (found === undefined) throw new Error('no link')
    return found
  }, { timeoutMs: 60_000 })
  return { url: await service.url(), link }
}

const SECRET = /#token=([A-Za-z0-9_-]{43})$/

test('the set-up link is one that can be opened: at the public address, under the prefix, never at 0.0.0.0', async (t) => {
  const behind = await firstStart(t, { PUBLIC_URL: 'https://captions.example/steno', BASE_PATH: '/steno' })
  t.is(behind.link.replace(SECRET, ''), 'https://captions.example/steno/setup')
  const prefixed = await firstStart(t, { BASE_PATH: '/steno' })
  t.is(prefixed.link.replace(SECRET, ''), `${prefixed.url}/steno/setup`)
  t.is((await fetch(prefixed.link)).status, 200)
  const everywhere = await firstStart(t, { HOST: '0.0.0.0' })
  t.is(everywhere.link.replace(SECRET, ''), `http://127.0.0.1:${new URL(everywhere.url).port}/setup`)
  const token = SECRET.exec(everywhere.link)?.[1] ?? ''
  const url = everywhere.url.replace('0.0.0.0', '127.0.0.1')
  t.is((await createClient(url).post<Single<Json>>('/setup', { token, username: 'ada', password: 'long enough' })).status, 200)
})

test('R77: where every address is listened on, an IP address in Host is one of the service, and a name is not', async (t) => {
  const service = await startTestService(t, { HOST: '0.0.0.0' })
  const client = createClient(service.url().replace('0.0.0.0', '127.0.0.1'))
  const { token } = await service.user('host', { max_sessions: 50 })
  const { port } = new URL(service.url())
  const create = (host: string): Promise<LiveJson> =>
    new Promise((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const asked = request({ host: '127.0.0.1', port, path: '/lives', method: 'POST', headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.once('end', () => resolve((JSON.parse(text) as Single<LiveJson>).data))
      })
      asked.once('error', reject)
      asked.end(JSON.stringify({ model: 'demo-en', language: 'en', size_text: 20 }))
    })
  t.is((await client.get('/health/live')).status, 200)
  for (const host of ['192.168.1.20:8080', '203.0.113.7', '[fd00::7]:8080', `127.0.0.1:${port}`, `localhost:${port}`]) {
    const live = await create(host)
    t.is(live['base_url'], `ws://${host}`)
    t.true(String(live['iframe_html']).startsWith(`<iframe src="http://${host}/embed/live/`))
  }
  for (const host of ['evil.example', 'nas.local:8080', '192.168.1.20.evil.example', '1.2.3', '0x7f000001', '[::1].evil.example', '256.1.1.1'])
    t.is((await create(host))['base_url'], '', host)
})
