import { CHROMIUM } from '../../support/browser/browser.ts'
import { openConsole, sharedConsole, watchPage } from '../../support/browser/console.ts'
import { startTestService } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

browserTest('the page blocks inline scripts, foreign images and HTML made from text', async (t) => {
  const { service, browser } = await start()
  for (const [html, complaint] of [['<script>document.title = "hacked"</script>', /Content Security Policy/],
    ['<img src="https://example.org/x.png">', /Content Security Policy/]] as const) {
    const page = await browser.newPage()
    const complaints = watchPage(page)
    await page.route('**/', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response,
        body: (await response.text()).replace('<div id="app">', `${html}<div id="app">`) })
    })
    await page.goto(service.url())
    await page.getByRole('heading', { name: 'Log in' }).waitFor()
    t.regex(complaints.join(), complaint)
    t.not(await page.title(), 'hacked')
    await page.close()
  }
  const page = await browser.newPage()
  const complaints = watchPage(page)
  await page.goto(service.url())
  await t.throwsAsync(page.evaluate(`document.body.innerHTML = '<b>x</b>'`), { message: /TrustedHTML/ })
  t.regex(complaints.join(), /TrustedHTML/)
  await page.close()
})

/** A text that runs a script when the page treats it as HTML. */
const HOSTILE = '<img src=x onerror="window.hacked=1">\u202Ejavascript:alert(1)</script>'
const LONG = 'x'.repeat(100_000)

browserTest('names, texts, addresses and fragments show as text, whatever they contain', async (t) => {
  const { service, browser } = await start()
  const client = await service.user(HOSTILE.replace('\u202E', ''))
  await client.post('/user-live-configs/', { name: HOSTILE.replace('\u202E', '').slice(0, 90) })
  await client.post('/tokens/', { name: '"><svg onload=window.hacked=1>' })
  const live = await client.createLive()
  const page = await openConsole(t, browser, { url: service.url(), token: client.token, at: '#/profiles' })
  await page.getByRole('region', { name: 'Profiles' }).getByText('<img src=x').waitFor()
  await page.getByRole('link', { name: 'API tokens' }).click()
  await page.getByText('"><svg onload').waitFor()

  // Frames of the service may contain hostile text too.
  await page.routeWebSocket(/\/ws\/live\//, (socket) => {
    const sendFrame = (segment: number, text: string, members: object = {}): void =>
      socket.send(JSON.stringify({ type: 'transcription', start: segment, end: segment + 1, text, language: 'en',
        segment, final: true, ...members }))
    socket.send('{"type":"connection","status":"connected","role":"listener","session_id":7,"state":"active"}')
    sendFrame(1, HOSTILE, { language: '"><script>' })
    socket.send(
      `{"type":"transcription","start":2,"end":3,"text":"\\ud800 lone","language":"en","segment":2,"final":true}`,
    )
    sendFrame(3, LONG)
    sendFrame(3, HOSTILE, { type: 'translation', language: '__proto__' })
    sendFrame(4, HOSTILE, { final: false })
  })
  await page.goto(`${service.url()}/#/sessions/${live.id}`)
  await page.reload()
  const log = page.getByRole('log')
  await log.getByText('\uFFFD lone').waitFor()
  t.is(await log.locator('img, script, svg').count(), 0)
  t.is((await log.locator('bdi').allInnerTexts()).find((text) => text.startsWith('xxx'))?.length, LONG.length)
  for (const place of ['#/sessions/%3Cimg%20src=x%20onerror=window.hacked=1%3E', '#/constructor', '#/__proto__/x',
    `#/${'a/'.repeat(5000)}`, '#/%E0%A4%A', '#/speak?model=%22%3E%3Cscript%3E&language=__proto__']) {
    await page.goto(`${service.url()}/${place}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
  }
  t.is(await page.evaluate('window.hacked'), undefined)
})

browserTest('a first visit needs few requests, and a refused file is requested again', async (t) => {
  const { browser } = await start()
  const service = await startTestService(t, { RATE_LIMIT: '50' })
  const { token } = await service.user('visitor')
  const context = await browser.newContext()
  t.teardown(() => context.close())
  const page = await context.newPage()
  const requests: Array<string> = []
  const statuses: Array<number> = []
  let bytes = 0
  page.on('request', (request) => requests.push(request.url()))
  page.on('response', (response) => statuses.push(response.status()))
  page.on('requestfinished', async (request) => {
    bytes += (await request.sizes()).responseBodySize
  })
  await page.addInitScript({ content: `sessionStorage.setItem('stenolog token /', ${JSON.stringify(token)})` })
  await page.goto(service.url())
  await page.getByRole('button', { name: 'Start' }).waitFor()
  await page.waitForLoadState('networkidle')
  // On a busy machine the page may request the memory figures again, so equal requests count once.
  const different = new Set(requests)
  t.true(different.size < 45, `${different.size} requests`)
  t.log(`${different.size} requests, ${bytes} bytes`)
  t.true(bytes < 150_000, `${bytes} bytes`)
  for (let i = 0; i < 3; i += 1) await page.reload()
  await page.getByRole('button', { name: 'Start' }).waitFor()
  t.deepEqual(statuses.filter((status) => status >= 400), [])

  let refusals = 0
  await page.route('**/pages/profiles.ts', (route) => {
    refusals += 1
    return refusals === 1
      ? route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, body: '{}' })
      : route.continue()
  })
  await page.getByRole('link', { name: 'Profiles' }).click()
  await page.getByRole('button', { name: 'New profile' }).waitFor()
  t.is(refusals, 2, 'the refused file is requested again')
})
