import test, { type ExecutionContext } from 'ava'
import { createClient, type Json, type Single } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { launch } from '../../support/service/launch.ts'
import { startTestStores } from '../../support/stores/stores.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Starts a service on empty data. Returns its address and the setup link that it prints. */
const firstStart = async (
  t: ExecutionContext,
  settings: Readonly<Record<string, string>>,
): Promise<{ readonly url: string; readonly link: string }> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const stores = await startTestStores()
  t.teardown(stores.dispose)
  const all = { PORT: '0', DATA_DIR: path, DRAIN_TIMEOUT: '0s', ...stores.settings, ...settings }
  const service = launch(t, Object.fromEntries(Object.entries(all).map(([name, value]) => [`STENOLOG_${name}`, value])))
  const link = await eventually(
    () => {
      const found = /^Create the first administrator.*: (\S+)$/m.exec(service.stdout())?.[1]
      if (found === undefined) throw new Error('no link')
      return found
    },
    { timeoutMs: 60_000 },
  )
  return { url: await service.url(), link }
}

const SECRET = /#token=([A-Za-z0-9_-]{43})$/

test('the setup link uses the public address and the base path, and replaces 0.0.0.0 with 127.0.0.1', async (t) => {
  const proxied = await firstStart(t, { PUBLIC_URL: 'https://captions.example/steno', BASE_PATH: '/steno' })
  t.is(proxied.link.replace(SECRET, ''), 'https://captions.example/steno/setup')
  const prefixed = await firstStart(t, { BASE_PATH: '/steno' })
  t.is(prefixed.link.replace(SECRET, ''), `${prefixed.url}/steno/setup`)
  t.is((await fetch(prefixed.link)).status, 200)
  const everywhere = await firstStart(t, { HOST: '0.0.0.0' })
  t.is(everywhere.link.replace(SECRET, ''), `http://127.0.0.1:${new URL(everywhere.url).port}/setup`)
  const token = SECRET.exec(everywhere.link)?.[1] ?? ''
  const url = everywhere.url.replace('0.0.0.0', '127.0.0.1')
  t.is(
    (await createClient(url).post<Single<Json>>('/setup', { token, username: 'ada', password: 'long enough' })).status,
    200,
  )
})
