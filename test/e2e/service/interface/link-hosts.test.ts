import { request } from 'node:http'
import test from 'ava'
import { createClient, type LiveJson, type Single } from '../../../support/service/client.ts'
import { startTestService } from '../../../support/service/service.ts'

test('with HOST=0.0.0.0, links use the Host header if it is an IP address or localhost', async (t) => {
  const service = await startTestService(t, { HOST: '0.0.0.0' })
  const client = createClient(service.url().replace('0.0.0.0', '127.0.0.1'))
  const { token } = await service.user('host', { max_sessions: 50 })
  const { port } = new URL(service.url())
  const create = (host: string): Promise<LiveJson> =>
    new Promise((resolve, reject) => {
      const headers = { host, authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const creation = request({ host: '127.0.0.1', port, path: '/lives', method: 'POST', headers }, (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => (text += chunk.toString()))
        response.once('end', () => resolve((JSON.parse(text) as Single<LiveJson>).data))
      })
      creation.once('error', reject)
      creation.end(JSON.stringify({ model: 'demo-en', language: 'en', size_text: 20 }))
    })
  t.is((await client.get('/health/live')).status, 200)
  for (const host of ['192.168.1.20:8080', '203.0.113.7', '[fd00::7]:8080', `127.0.0.1:${port}`, `localhost:${port}`]) {
    const live = await create(host)
    t.is(live['base_url'], `ws://${host}`)
    t.true(String(live['iframe_html']).startsWith(`<iframe src="http://${host}/embed/live/`))
  }
  for (const host of [
    'evil.example',
    'nas.local:8080',
    '192.168.1.20.evil.example',
    '1.2.3',
    '0x7f000001',
    '[::1].evil.example',
    '256.1.1.1',
  ])
    t.is((await create(host))['base_url'], '', host)
})
