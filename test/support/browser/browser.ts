import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'
import type { Browser, Page } from 'playwright-core'

/** Debian's; tests that need it are skipped by name where it is absent. */
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((path) => existsSync(path)) ?? '/usr/bin/chromium'

/** STENOLOG_TEST_BROWSER: the name of a smaller build of Chromium, without windows and devices; taken where it is installed. */
const SMALLER = `/usr/bin/${process.env['STENOLOG_TEST_BROWSER'] ?? 'chromium'}`

/** A headless browser that reaches nothing by itself. Who wants devices, by arguments, gets the whole one. */
export const launchBrowser = (...args: ReadonlyArray<string>): Promise<Browser> =>
  chromium.launch({
    executablePath: args.length === 0 && existsSync(SMALLER) ? SMALLER : CHROMIUM,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      ...args,
    ],
  })

/** What the policies of a page and of its frames refuse, as it comes: nothing, where all is well. */
export const watchPolicy = (page: Page): ReadonlyArray<string> => {
  const refused: Array<string> = []
  page.on('console', (message) => {
    if (/content security policy|cross-origin-resource-policy|violates/i.test(message.text())) refused.push(message.text())
  })
  page.on('requestfailed', (request) => {
    if (/blocked/i.test(request.failure()?.errorText ?? '')) refused.push(request.url())
  })
  page.on('pageerror', (error) => refused.push(String(error)))
  return refused
}
