import type { WebSocketRoute } from 'playwright-core'
import { CHROMIUM, watchPolicy } from '../../../support/browser/browser.ts'
import { checkAccess, sharedConsole } from '../../../support/browser/console.ts'
import type { Json } from '../../../support/service/client.ts'
import { captionFrame, openEmbedPage } from '../../../support/browser/embed-page.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { testWith } from '../../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

const LOOK_OF_TEXT =
  "(({ color, fontSize }) => ({ color, fontSize }))(getComputedStyle(document.querySelector('#captions')))"

const PAGE_STATE = `({
  hacked: 'hacked' in window,
  scripts: document.scripts.length,
  elements: document.querySelectorAll('#lines p *').length,
  directions: Array.from(document.querySelectorAll('#lines p'), (line) => getComputedStyle(line).direction),
  isTooWide: [document.documentElement, document.querySelector('#captions')]
    .some(({ scrollWidth }) => scrollWidth > innerWidth),
  background: getComputedStyle(document.body).backgroundColor,
  hasShadow: getComputedStyle(document.querySelector('#captions')).textShadow !== 'none',
  announced: document.querySelector('#lines').getAttribute('aria-live'),
  stored: localStorage.length + document.cookie.length,
})`
const IS_NEWEST_VISIBLE =
  `document.querySelector('#lines').lastElementChild.getBoundingClientRect().bottom <= innerHeight`

browserTest('captions are shown as plain text in at most 50 lines, and finals replace partials', async (t) => {
  const { service, browser } = await start()
  const page = await browser.newPage({ viewport: { width: 400, height: 300 } })
  const refused = watchPolicy(page)
  const socket = await openEmbedPage(page, `${service.url()}/embed/live/7#token=any`)
  const lines = page.locator('#lines p')
  const partial = page.locator('#partial')

  socket.send('{"type":"connection","status":"connected","role":"listener","session_id":7,"state":"active"}')
  socket.send(captionFrame(1, 'hel', { final: false }))
  socket.send(captionFrame(1, 'hello\nwor', { final: false }))
  await partial.filter({ hasText: 'wor' }).waitFor()
  t.is(await lines.count(), 0)
  socket.send(captionFrame(1, 'Hello\nworld.'))
  await lines.first().waitFor()
  t.deepEqual([await lines.allTextContents(), await partial.textContent()], [['Hello\nworld.'], ''])
  socket.send(captionFrame(1, 'Hello\nworld.'))
  socket.send(captionFrame(9, 'Bonjour', { type: 'translation', language: 'fr' }))

  const hostile = [
    '<script>window.hacked = 1</script>',
    '<img src=x onerror="window.hacked=1">',
    '</p></div><style>*{display:none}</style>',
    '&lt;b&gt;',
    '\u202Etxet desrever\u202E',
    'שלום, world',
    'x'.repeat(1e6),
    'javascript:alert(1)',
  ]
  for (const [index, text] of hostile.entries())
    socket.send(captionFrame(index + 2, text, { language: '"><script>' }))
  await lines.nth(hostile.length).waitFor()
  const texts = await lines.allTextContents()
  t.deepEqual(
    texts.slice(1).map((text) => text.slice(0, 100)),
    hostile.map((text) => text.slice(0, 100)),
    'each text once, without the translation',
  )
  const seen = await page.evaluate<Json>(PAGE_STATE)
  t.deepEqual<unknown, unknown>(seen, {
    hacked: false,
    scripts: 1,
    elements: 0,
    directions: ['ltr', 'ltr', 'ltr', 'ltr', 'ltr', 'ltr', 'rtl', 'ltr', 'ltr'],
    isTooWide: false,
    background: 'rgba(0, 0, 0, 0)',
    hasShadow: true,
    announced: 'polite',
    stored: 0,
  })

  for (let segment = 100; segment < 200; segment += 1) socket.send(captionFrame(segment, `line ${segment}`))
  await page.getByText('line 199').waitFor()
  t.is(await lines.count(), 50)
  t.true(await page.evaluate<boolean>(IS_NEWEST_VISIBLE))
  t.deepEqual(refused, [])
})

browserTest('with COMPAT_STRICT a frame replaces the captions that overlap it in time', async (t) => {
  const { service, browser } = await start()
  const page = await browser.newPage()
  const socket = await openEmbedPage(page, `${service.url()}/embed/live/7#token=any`)
  const strict = (start: number, end: number, text: string): string =>
    JSON.stringify({ type: 'transcription', start, end, text, language: 'en' })
  for (const [start, end, text] of [
    [0, 1, 'one'],
    [0, 2, 'one two'],
    [2, 3, 'three'],
    [2, 4, 'three four'],
  ] as const)
    socket.send(strict(start, end, text))
  await page.locator('#partial').filter({ hasText: 'three four' }).waitFor()
  t.deepEqual(await page.locator('#lines p').allTextContents(), ['one two'])
  socket.send('{"status":"finished"}')
  await socket.close({ code: 1000 })
  await page.getByText('The captions have ended.').waitFor()
  t.deepEqual(await page.locator('#lines p').allTextContents(), ['one two', 'three four'])
})

browserTest('controls=1 lets viewers choose language, size, contrast and full screen', async (t) => {
  const { service, browser } = await start()
  const page = await browser.newPage({ viewport: { width: 800, height: 400 } })
  const refused = watchPolicy(page)
  const socket = await openEmbedPage(
    page,
    `${service.url()}/embed/live/7?controls=1&color_text=ff0000&background_color=ffffff#token=any`,
  )
  await page.getByRole('group', { name: 'Display' }).waitFor()
  socket.send(captionFrame(1, 'Good morning.'))
  socket.send(captionFrame(1, 'Buenos días.', { type: 'translation', language: 'es' }))
  socket.send(captionFrame(2, 'Today is Saturday.'))
  const lines = page.locator('#lines p')
  await lines.nth(1).waitFor()
  t.deepEqual(await lines.allTextContents(), ['Good morning.', 'Today is Saturday.'])
  t.deepEqual(await page.getByLabel('Language').locator('option').allTextContents(), ['As spoken', 'Spanish'])
  await page.getByLabel('Language').selectOption('Spanish')
  t.deepEqual(await lines.evaluateAll((all) => all.map(({ textContent, lang }) => [textContent, lang])), [
    ['Buenos días.', 'es'],
  ])
  socket.send(captionFrame(2, 'Hoy es sábado.', { type: 'translation', language: 'es' }))
  await lines.nth(1).waitFor()
  await page.getByLabel('Language').selectOption('As spoken')
  t.deepEqual(await lines.allTextContents(), ['Good morning.', 'Today is Saturday.'])

  await page.getByLabel('Contrast').selectOption('Yellow on black')
  await page.getByLabel('Size').fill('48')
  t.deepEqual(await page.evaluate(LOOK_OF_TEXT), { color: 'rgb(255, 255, 0)', fontSize: '48px' })
  await checkAccess(t, page, 'page for an audience')
  await page.getByLabel('Contrast').selectOption('Original')
  t.like(await page.evaluate(LOOK_OF_TEXT), { color: 'rgb(255, 0, 0)' })
  await page.getByRole('button', { name: 'Full screen' }).click()
  await page.getByRole('button', { name: 'Leave full screen' }).click()
  await page.getByRole('button', { name: 'Full screen', exact: true }).waitFor()
  t.deepEqual(refused, [])
})

const CONNECTION = '{"type":"connection","status":"connected","role":"listener","session_id":7,"state":"'

browserTest('the page shows the connection state in words; an overlay shows only problems', async (t) => {
  const { service, browser } = await start()
  const page = await browser.newPage({ viewport: { width: 800, height: 400 } })
  const refused = watchPolicy(page)
  await page.clock.install()
  const sockets: Array<WebSocketRoute> = []
  await page.routeWebSocket(/\/ws\/live\//, (route) => sockets.push(route))
  const status = page.getByRole('status')
  const waitForStatus = async (text: string): Promise<void> => {
    await status.filter({ hasText: new RegExp(`^${text}$`) }).waitFor({ state: 'attached' })
  }
  await page.goto(`${service.url()}/embed/live/7?controls=1&background_color=000000#token=any`)
  await waitForStatus('Connecting …')
  await checkAccess(t, page, 'page for an audience, connecting')
  sockets[0]?.send(`${CONNECTION}pending"}`)
  await waitForStatus('Connected. The captions have not begun yet.')
  sockets[0]?.send('{"status":"started"}')
  await waitForStatus('Connected. Waiting for speech …')
  await checkAccess(t, page, 'page for an audience, waiting')
  sockets[0]?.send(captionFrame(1, 'Good', { final: false }))
  await waitForStatus('')
  sockets[0]?.send(captionFrame(1, 'Good morning.'))
  await page.clock.runFor(29_000)
  await waitForStatus('')
  await page.clock.runFor(2000)
  await waitForStatus('Connected. Waiting for speech …')
  t.deepEqual(await page.locator('#lines p').allTextContents(), ['Good morning.'], 'earlier captions stay')

  // The clock of the page is fake: advance it past the delay before each new socket.
  const socket = async (index: number): Promise<WebSocketRoute> => {
    await page.clock.runFor(31_000)
    return eventually(() => {
      const found = sockets[index]
      if (found === undefined) throw new Error(`socket ${index} was not opened`)
      return found
    })
  }
  await sockets[0]?.close({ code: 1001 })
  await waitForStatus('Connection lost. Reconnecting …')
  await (await socket(1)).close({ code: 1001 })
  await waitForStatus('No connection. Trying again …')
  const third = await socket(2)
  third.send(`${CONNECTION}active"}`)
  await waitForStatus('Connected. Waiting for speech …')
  third.send(captionFrame(2, 'Today is Saturday.'))
  await waitForStatus('')
  third.send('{"type":"error","code":"server_restart","detail":""}')
  await third.close({ code: 1012 })
  await waitForStatus('The service restarts. The captions return automatically.')
  const last = await socket(3)
  last.send(`${CONNECTION}finished"}`)
  last.send('{"type":"error","code":"session_finished","detail":""}')
  await last.close({ code: 4410 })
  await waitForStatus('The captions have ended.')
  const queries = sockets.map((route) => new URL(route.url()).search)
  t.deepEqual(queries, ['?token=any&replay=50', '?token=any&after=1', '?token=any&after=1', '?token=any&after=2'])

  const overlay = await openEmbedPage(page, `${service.url()}/embed/live/7#token=any`)
  overlay.send(`${CONNECTION}pending"}`)
  overlay.send(captionFrame(1, 'Good morning.'))
  await page.locator('#lines p').waitFor()
  await waitForStatus('')
  t.is(new URL(overlay.url()).search, '?token=any', 'an overlay does not request earlier captions')
  await overlay.close({ code: 1001 })
  await waitForStatus('')
  t.deepEqual(refused, [])
})

browserTest('a page that opens late shows the earlier captions and their translations', async (t) => {
  const { service, browser } = await start()
  const client = await service.user('late')
  const live = await client.createLive({ translations: ['es'] })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const [sentence] = await sampleSentences()
  sender.sendAudio(sentence?.samples ?? silence(0))
  sender.sendAudio(silence(1.5))
  const spanish = await sender.frame(({ type, final }) => type === 'translation' && final === true)
  const page = await browser.newPage()
  await page.goto(
    `${service.url()}/embed/live/${live.id}?controls=1&background_color=000000#token=${live.listener_token}`,
  )
  const line = page.locator('#lines p')
  await line.getByText('meeting').waitFor()
  await page.reload()
  await line.getByText('meeting').waitFor()
  await page.getByLabel('Language').selectOption('Spanish')
  t.is(await line.textContent(), String(spanish['text']))
})
