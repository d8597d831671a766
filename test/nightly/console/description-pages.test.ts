import type { Page } from 'playwright-core'
import test from 'ava'
import { CHROMIUM, launchBrowser } from '../../support/browser/browser.ts'
import { runTestService } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'

const service = await runTestService()
test.after.always(() => service.dispose())

/** Opens a page. Collects console errors, policy violations and requests to other origins. */
const openPage = async (
  page: Page,
  url: string,
): Promise<{ readonly complaints: ReadonlyArray<string>; readonly foreign: ReadonlyArray<string> }> => {
  const complaints: Array<string> = []
  const foreign: Array<string> = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('request', (request) => {
    if (!/^(?:data|blob):/.test(request.url()) && new URL(request.url()).origin !== service.url())
      foreign.push(request.url())
  })
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('policy: ' + violatedDirective + ' ' + blockedURI))`,
  )
  await page.goto(url)
  return { complaints, foreign }
}

testWith(CHROMIUM)(
  '/docs and /redoc work in a real browser under a strict content policy and contact no other server',
  async (t) => {
    const browser = await launchBrowser()
    t.teardown(() => browser.close())
    for (const [path, sign] of [
      ['/docs', '#operations-Private-createLive'],
      ['/api/v1/redoc/', '[id="operation/createLive"]'],
    ] as const) {
      const page = await browser.newPage()
      const { complaints, foreign } = await openPage(page, service.url() + path)
      await page.locator(sign).waitFor({ state: 'attached' })
      if (path === '/docs') {
        await page.locator('#operations-Public-getVersion .opblock-summary-control').click()
        await page.locator('#operations-Public-getVersion .try-out__btn').click()
        await page.locator('#operations-Public-getVersion .execute').click()
        await page.locator('#operations-Public-getVersion .live-responses-table', { hasText: '0.6.2' }).waitFor()
      }
      t.regex((await page.textContent('body')) ?? '', /Create a session and reserve its memory/)
      t.deepEqual(complaints, [], path)
      t.deepEqual(foreign, [], path)
      const policy = (await service.anonymous().get(path)).headers.get('content-security-policy') ?? ''
      t.regex(policy, /^default-src 'none'; script-src 'self';/)
      t.notRegex(policy, /unsafe|\*|https?:/, path)
      await t.throwsAsync(
        page.evaluate('sessionStorage.length'),
        { message: /sandboxed/ },
        'the page cannot read the login of the console',
      )
      await page.close()
    }
  },
)
