import { CHROMIUM, launchBrowser } from '../../support/browser/browser.ts'
import { checkAccess, openConsole } from '../../support/browser/console.ts'
import { FFMPEG, filesOf, packageSample, serve } from '../../support/sources/audio-server.ts'
import { startTestService } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'

const browserTest = testWith(CHROMIUM, FFMPEG)

browserTest('a URL is transcribed, and a failed URL leaves a session with the reason', async (t) => {
  const service = await startTestService(t, { AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32' })
  const { token, api } = await service.user('puller')
  const files = filesOf(await packageSample(t, 'ts', 4))
  // The service does not retry a forbidden address, so the session fails at once.
  const elsewhere = { location: 'http://10.0.0.1/index.m3u8' }
  const server = await serve(t, (request, response) =>
    (request.url === '/elsewhere.m3u8' ? void response.writeHead(302, elsewhere).end() : files(request, response)))
  const browser = await launchBrowser()
  t.teardown(() => browser.close())
  const page = await openConsole(t, browser, { url: service.url(), token, at: '#/speak?source=url' })
  await page.getByLabel('Address').fill(server.url('index.m3u8'))
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('log').getByText('meeting').waitFor()
  await page.getByText('✓ Done').waitFor()

  await page.getByLabel('Address').fill(server.url('elsewhere.m3u8'))
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('alert').waitFor()
  const [failed] = (await api.call('listLives', { query: { status: ['error'] } })).data
  const { data } = await api.call('getHistory', { path: { id: failed?.id ?? 0 } })
  const failure = data.findLast(({ type }) => type === 'LiveFailed')?.data
  await page.goto(`${service.url()}/#/sessions/${failed?.id}`)
  await page.getByText('This session ended with an error:').waitFor()
  await page.getByText(String(failure?.['code']), { exact: true }).waitFor()
  await page.getByText(String(failure?.['detail']), { exact: true }).waitFor()
  await checkAccess(t, page, 'session, error')
})
