import type { Page } from 'playwright-core'
import { CHROMIUM, watchPolicy } from '../../support/browser/browser.ts'
import { openConsole, sharedConsole } from '../../support/browser/console.ts'
import { captionFrame, openEmbedPage } from '../../support/browser/embed-page.ts'
import { testWith } from '../../support/running/skip-unless.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

/** Texts that run a script in a page without defences: as HTML, as the address of a link, or as a template. */
const PAYLOADS = {
  html: [
    '<img src=x onerror=top.ran=1>',
    '<svg onload=top.ran=1>',
    '</script><script>top.ran=1</script>',
    '"><iframe srcdoc="<script>top.ran=1</script>">',
    '<details open ontoggle=top.ran=1>',
  ],
  link: ['javascript:void(top.ran=1)', 'JaVaScRiPt:top.ran=1//https://radio.example'],
  template: ['${top.ran=1}', '${constructor.constructor("top.ran=1")()}'],
}
const ALL = Object.values(PAYLOADS).flat()
/** Reverses the order of the characters after it. Names refuse it, but texts may contain it. */
const BIDI = '\u202E'

/** How an unsafe page handles a text of each kind. */
const UNSAFE: Readonly<Record<keyof typeof PAYLOADS, (page: Page, text: string) => Promise<unknown>>> = {
  html: (page, text) => page.setContent(`<body>${text}`),
  link: (page, text) => page.evaluate(`(() => {
    const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(text)} })
    document.body.append(link)
    link.click()
  })()`),
  template: (page, text) => page.evaluate(`void eval(${JSON.stringify(`\`${text}\``)})`),
}

/** Elements and attributes that only an injected text creates. */
const INJECTED = `document.querySelectorAll(
  '[onerror], [onload], [ontoggle], [srcdoc], [href^="javascript:" i], [src^="javascript:" i], script:not([src])',
).length`

/** Returns whether the page ran a payload, and how many elements of payloads it contains. */
const effectIn = async (page: Page): Promise<string> => {
  const [ran, injected] = await page.evaluate<readonly [unknown, number]>(`[typeof window.ran, ${INJECTED}]`)
  return `${String(ran)}, ${injected} injected`
}
const HARMLESS = 'undefined, 0 injected'

browserTest('each payload runs in a page without defences, so the tests below can fail', async (t) => {
  const { browser } = await start()
  const page = await browser.newPage()
  for (const [kind, texts] of Object.entries(PAYLOADS) as ReadonlyArray<[keyof typeof PAYLOADS, string[]]>)
    for (const text of texts) {
      await page.goto('about:blank')
      t.is(await effectIn(page), HARMLESS)
      await UNSAFE[kind](page, text)
      await page.waitForFunction('window.ran === 1')
      t.not(await effectIn(page), HARMLESS, text)
    }
  await page.close()
})

browserTest('what users enter is shown literally on every page of the console, and runs no script', async (t) => {
  t.timeout(540_000)
  const { service, browser } = await start()
  const admin = await service.admin()
  const everything = ALL.join(' ')
  const [user] = await Promise.all(ALL.map((name) => service.user(name)))
  if (user === undefined) throw new Error('no user')
  for (const name of ALL) {
    await user.post('/user-live-configs/', { name, config: { prompt: name, hotwords: [name] } })
    await user.post('/tokens/', { name })
  }
  const address = `https://radio.example/${ALL.join('').replaceAll(' ', '/')}`
  const config = { prompt: everything, hotwords: ALL }
  const source = await user.createLive({ audio_format: 'hls', audio_url: address, config })
  const raw = await user.createLive({ config })

  const open = (token: string | undefined) => openConsole(t, browser, { url: service.url(), token, at: '#/about' })
  const check = async (page: Page, place: string, ...texts: ReadonlyArray<string>): Promise<void> => {
    await page.goto(`${service.url()}/#/${place}`)
    // A change of the fragment loads no page whose content could be awaited.
    await page.reload({ waitUntil: 'networkidle' })
    for (const text of texts) await page.getByText(text).first().waitFor({ state: 'attached' })
    t.is(await effectIn(page), HARMLESS, place)
  }

  const own = await open(user.token)
  await check(own, 'profiles', ...ALL)
  await check(own, 'tokens', ...ALL)
  await check(own, 'sessions', 'radio.example')
  await check(own, 'account', ALL[0] ?? '')
  for (const [id, ...texts] of [[source.id, address, everything], [raw.id, everything]] as const)
    for (const tab of ['Captions', 'Timeline', 'Share', 'Details']) {
      await own.goto(`${service.url()}/#/sessions/${id}`)
      await own.getByRole('tab', { name: tab }).click()
      if (tab === 'Details') for (const text of texts) await own.getByText(text).first().waitFor()
      t.is(await effectIn(own), HARMLESS, `${tab} of ${id}`)
    }
  const root = await open(admin.token)
  await check(root, 'administration/users', ...ALL)
  await check(root, 'administration/tokens', ...ALL)
  await root.goto(`${service.url()}/#/administration/sessions`)
  await root.locator('#all-status').selectOption('pending')
  await root.getByText(ALL[0] ?? '').first().waitFor()
  t.is(await effectIn(root), HARMLESS)
  await check(root, `administration/sessions/${source.id}`, `Session ${source.id}`)
  for (const text of ALL)
    for (const place of ['sessions?status=', 'sessions/', 'speak?model=', 'administration/models?install=', ''])
      await check(root, place + encodeURIComponent(text))
})

browserTest('errors and texts of the service are shown literally in the console, and run no script', async (t) => {
  const { service, browser } = await start()
  const user = await service.user('reader')
  const live = await user.createLive()
  const page = await openConsole(t, browser, { url: service.url(), token: user.token, at: '#/about' })
  for (const text of [...ALL, BIDI + ALL[0]]) {
    const detail = JSON.stringify({ detail: text })
    await page.route(/user-live-configs/, (route) =>
      route.fulfill({ status: 409, contentType: 'application/json', headers: { 'X-Request-ID': text }, body: detail }))
    await page.goto(`${service.url()}/#/about`)
    await page.goto(`${service.url()}/#/profiles`)
    await page.getByRole('alert').getByText(text).first().waitFor()
    t.is(await effectIn(page), HARMLESS, text)
    await page.unrouteAll()
  }
  await page.routeWebSocket(/\/ws\/live\//, (socket) => {
    socket.send('{"type":"connection","status":"connected","role":"listener","session_id":7,"state":"active"}')
    for (const [index, text] of ALL.entries()) {
      socket.send(captionFrame(index + 1, BIDI + text, { language: text }))
      socket.send(captionFrame(index + 1, text, { type: 'translation', language: 'es' }))
    }
    socket.send(captionFrame(99, `draft ${ALL.join(' ')}`, { final: false }))
  })
  await page.goto(`${service.url()}/#/sessions/${live.id}`)
  for (const text of ALL) await page.getByRole('log').getByText(text).nth(1).waitFor()
  t.is(await effectIn(page), HARMLESS)
})

browserTest('the caption page shows texts and its own address literally, and works with any address', async (t) => {
  t.timeout(300_000)
  const { service, browser } = await start()
  for (const text of [...ALL, '__proto__', '', BIDI]) {
    const page = await browser.newPage()
    const complaints = watchPolicy(page)
    const query = new URLSearchParams(
      Object.fromEntries(['language', 'background_color', 'color_text', 'size_text', 'x'].map((name) => [name, text])),
    )
    const path = '/embed/live/7'
    t.is((await service.anonymous().get(`${path}?${query.toString()}`)).status, 422, text)
    // The page is served without its query, so its own script meets the query that the service refuses.
    await page.route(new RegExp(`${path}\\?`), (route) => route.continue({ url: `${service.url()}${path}` }))
    const fragment = `token=${encodeURIComponent(text)}x&x=${text}`
    const address = `${service.url()}${path}?controls=1&${query.toString()}#${fragment}`
    const socket = await openEmbedPage(page, address)
    socket.send('{"type":"connection","status":"connected","role":"listener","session_id":7,"state":"active"}')
    socket.send(captionFrame(1, `first ${text}`, { language: text }))
    socket.send(captionFrame(1, `translated ${text}`, { type: 'translation', language: 'es' }))
    const language = page.getByLabel('Language')
    await language.waitFor()
    await language.selectOption('')
    await page.locator('#lines').getByText(`first ${text}`).waitFor()
    await language.selectOption('es')
    await page.locator('#lines').getByText(`translated ${text}`).waitFor()
    t.is(await effectIn(page), HARMLESS, text)
    t.deepEqual(complaints, [], text)
    await page.close()
  }
})

browserTest('the pages of the interface ignore their query and fragment', async (t) => {
  const { service, browser } = await start()
  for (const [path, sign] of [['docs', '#operations-Private-createLive'],
    ['redoc', '[id="operation/createLive"]']] as const)
    for (const text of ALL) {
      const page = await browser.newPage()
      const requests: Array<string> = []
      page.on('request', (request) => requests.push(request.url()))
      const hostile = `data:application/json,${encodeURIComponent(JSON.stringify({ openapi: '3.1.0',
        info: { title: text, description: text, version: '1' }, paths: {} }))}`
      const query = new URLSearchParams({ url: hostile, configUrl: hostile, 'urls.primaryName': text, spec: text })
      await page.goto(`${service.url()}/${path}?${query.toString()}#/${encodeURIComponent(text)}/${text}`)
      await page.locator(sign).waitFor({ state: 'attached' })
      t.is(await page.evaluate('typeof window.ran'), 'undefined', `${path} ${text}`)
      t.deepEqual(requests.filter((url) => url.includes('application/json')), [], `${path} ${text}`)
      await page.close()
    }
})
