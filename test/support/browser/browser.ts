import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'

/** The path of Debian's Chromium. Tests are skipped when it is not installed. */
export const CHROMIUM =
  ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path)) ?? '/usr/bin/chromium'

/** A smaller build of Chromium without windows and devices. STENOLOG_TEST_BROWSER is the name of its executable. */
const SMALLER = `/usr/bin/${process.env['STENOLOG_TEST_BROWSER'] ?? 'chromium'}`

/** Launches a headless browser without background traffic. With arguments (devices) launches the full build. */
export const launchBrowser = (...args: ReadonlyArray<string>): Promise<Browser> =>
  chromium.launch({
    executablePath: args.length === 0 && existsSync(SMALLER) ? SMALLER : CHROMIUM,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', ...args,
    ],
  })

/** Collects everything that the policies of a page and its frames block. The array stays empty on a correct page. */
export const watchPolicy = (page: Page): ReadonlyArray<string> => {
  const refused: Array<string> = []
  page.on('console', (message) => {
    const text = message.text()
    if (/content security policy|cross-origin-resource-policy|violates/i.test(text)) refused.push(text)
  })
  page.on('requestfailed', (request) => {
    if (/blocked/i.test(request.failure()?.errorText ?? '')) refused.push(request.url())
  })
  page.on('pageerror', (error) => refused.push(String(error)))
  return refused
}
