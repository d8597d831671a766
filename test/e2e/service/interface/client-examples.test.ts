import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readFile, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { CHROMIUM, launchBrowser } from '../../../support/browser/browser.ts'
import type { Json, Single } from '../../../support/service/client.ts'
import { runTestService } from '../../../support/service/service.ts'
import { testWith } from '../../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'
import { wavOf } from '../../../support/audio/wav.ts'

const service = await runTestService()
const folder = await temporaryDirectory()
const [sentence] = await sampleSentences()
const speech = sentence?.samples ?? new Int16Array()
test.after.always(async () => {
  await service.dispose()
  await folder.remove()
})

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

/** Serves the example page and the folder of `npm run client` on a separate origin. */
const servePage = async (client: string): Promise<{ readonly url: string; readonly close: () => void }> => {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://page')
    const file = pathname.startsWith('/client/') ? join(client, pathname.slice(8)) : join('docs/examples', pathname)
    readFile(file).then(
      (content) => response.setHeader('content-type', TYPES[extname(file)] ?? 'text/plain').end(content),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

testWith(CHROMIUM)('the example page shows captions with the client that npm run client builds', async (t) => {
  const script =
    (JSON.parse(await readFile('package.json', 'utf8')) as { readonly scripts: Readonly<Record<string, string>> })
      .scripts['client'] ?? ''
  execFileSync('sh', ['-c', `${script} ${folder.path}/client`], {
    env: { ...process.env, PATH: `node_modules/.bin:${process.env['PATH'] ?? ''}` },
  })
  const page = await servePage(`${folder.path}/client`)
  t.teardown(page.close)
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const tab = await browser.newPage()
  const pageErrors: Array<string> = []
  tab.on('pageerror', (error) => pageErrors.push(String(error)))

  const client = await service.user('ada')
  const live = await client.createLive()
  const link = new URLSearchParams({ url: service.url(), live: String(live.id), token: live.listener_token })
  await tab.goto(`${page.url}/captions.html#${link.toString()}`)
  await tab.getByText('open', { exact: true }).waitFor()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  sender.sendAudio(speech)
  sender.sendAudio(silence(1.5))
  await tab.locator('main p', { hasText: 'meeting' }).waitFor()
  sender.send({ type: 'FINISH' })
  await tab.getByText('finished', { exact: true }).waitFor()
  t.deepEqual(pageErrors, [])
  const lines = (await readFile('docs/examples/captions.html', 'utf8')).trimEnd().split('\n')
  t.true(lines.length <= 40, `${lines.length} lines`)
})

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0

;(hasPython ? test : test.skip)('the program of the Python guide prints captions', async (t) => {
  const client = await service.user('monty')
  const { body } = await client.post<Single<Json>>('/tokens/', { name: 'python' })
  const [, program = ''] = /```python\n([^]*?)```/.exec(await readFile('docs/guides/client-in-python.md', 'utf8')) ?? []
  t.true(program.trimEnd().split('\n').length <= 30)
  await writeFile(join(folder.path, 'captions.py'), program)
  await writeFile(join(folder.path, 'speech.wav'), wavOf(speech, 16_000))
  const args = [
    join(folder.path, 'captions.py'),
    service.url(),
    String(body.data['token']),
    join(folder.path, 'speech.wav'),
  ]
  const { stdout, stderr } = await promisify(execFile)('python3', args)
  t.is(stderr, '')
  t.regex(stdout, /^ +\d+\.\d\d {2}.*meeting.*\n$/)
})
