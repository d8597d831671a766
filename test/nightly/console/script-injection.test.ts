import type { Page } from 'playwright-core'
import { CHROMIUM } from '../../support/browser/browser.ts'
import { openConsole, sharedConsole } from '../../support/browser/console.ts'
import { captionFrame } from '../../support/browser/embed-page.ts'
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
