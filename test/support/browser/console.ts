import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { runTestService, type TestService } from '../service/service.ts'

/** Messages of the browser about failed requests, refused sockets and a header that works over https only. */
const BROWSER_MESSAGES = [
  /^Failed to load resource/, /^The Cross-Origin-Opener-Policy header has been ignored/,
  /^WebSocket connection to .* failed/,
]

const isBrowserMessage = (text: string): boolean => BROWSER_MESSAGES.some((pattern) => pattern.test(text))

/** Collects policy violations, errors in the console, blocked requests and exceptions of a page. */
export const watchPage = (page: Page): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  page.on('console', (message) => {
    const text = message.text()
    if (message.type() === 'error' && !isBrowserMessage(text)) complaints.push(text)
    if (/content security policy|trusted ?types?|violates|agent cluster/i.test(text)) complaints.push(text)
  })
  page.on('requestfailed', (request) => {
    if (/blocked/i.test(request.failure()?.errorText ?? '')) complaints.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return complaints
}

export interface ConsoleOptions {
  readonly url: string
  /** A token of `POST /login`. Default: not logged in. */
  readonly token?: string | undefined
  /** The first page, such as `#/sessions`. */
  readonly at?: string
  readonly context?: Parameters<Browser['newContext']>[0]
}

/** Timeout of each step of a page, for busy machines. */
const PATIENCE_MS = 90_000

/** Opens the console in its own browser context. The test fails at its end when `watchPage` collected something. */
export const openConsole = async (t: ExecutionContext, browser: Browser, options: ConsoleOptions): Promise<Page> => {
  const context: BrowserContext = await browser.newContext(options.context)
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const complaints = watchPage(page)
  t.teardown(async () => {
    await context.close()
    if (complaints.length > 0) throw new Error(complaints.join('\n'))
  })
  if (options.token !== undefined) {
    // A sandboxed frame has no storage, so only the top window gets the token.
    const condition = 'window === top && sessionStorage.length === 0'
    const store = `sessionStorage.setItem('stenolog token /', ${JSON.stringify(options.token)})`
    await page.addInitScript({ content: `if (${condition}) ${store}` })
  }
  await page.goto(`${options.url}/${options.at ?? ''}`)
  return page
}

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core')), 'utf8')

interface AxeFinding {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/** Rules that depend on colours and sizes. The other rules check the structure of the page. */
const VISUAL_RULES = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable']
const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Returns the violations of these rules or sets of rules (WCAG 2.2 AA) that axe-core finds. */
const findingsOf = async (page: Page, rules: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  // page.evaluate uses the debugger, which the content security policy does not restrict.
  if (!(await page.evaluate<boolean>('\'axe\' in window'))) await page.evaluate(AXE)
  const options = `{ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }`
  const run = `axe.run(${options}).then(({ violations }) => violations)`
  const findings = await page.evaluate<ReadonlyArray<AxeFinding>>(run)
  return findings.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`))
}

/** An expression for the page. If the page scrolls sideways: the elements beyond its right edge; otherwise none. */
const TOO_WIDE = `document.documentElement.scrollWidth <= innerWidth ? [] :
  Array.from(document.querySelectorAll('body *'))
    .filter((element) => element.getBoundingClientRect().right > innerWidth)
    .map(({ tagName, className, id }) => [tagName, className, id].join(' '))`

/**
 * Checks the accessibility of the page: the visual rules in light colours; all rules in dark colours at a width of 320
 * pixels, where the page must not scroll sideways.
 */
export const checkAccess = async (t: ExecutionContext, page: Page, state: string): Promise<void> => {
  const size = page.viewportSize()
  t.deepEqual(await findingsOf(page, VISUAL_RULES), [], `${state}, light`)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 320, height: 640 })
  t.deepEqual(await findingsOf(page, ALL_RULES), [], `${state}, dark, 320 px`)
  t.deepEqual(await page.evaluate(TOO_WIDE), [], `${state} scrolls sideways`)
  await page.emulateMedia({ colorScheme: 'light' })
  if (size !== null) await page.setViewportSize(size)
}

/** Like `checkAccess`, with all rules in both colours and widths. Too slow for `npm test`. */
export const checkEveryLook = async (t: ExecutionContext, page: Page, state: string): Promise<void> => {
  const size = page.viewportSize()
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [320, 1280]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 640 })
      t.deepEqual(await findingsOf(page, ALL_RULES), [], `${state}, ${colorScheme}, ${width} px`)
      t.deepEqual(await page.evaluate(TOO_WIDE), [], `${state}, ${width} px, scrolls sideways`)
    }
  await page.emulateMedia({ colorScheme: 'light' })
  if (size !== null) await page.setViewportSize(size)
}

/** Creates one service and one browser for all tests of a file. The first test that is not skipped starts them. */
export const sharedConsole = () => {
  const closing: Array<() => unknown> = []
  test.after.always(async () => {
    for (const close of closing.toReversed()) await close()
  })
  let started: Promise<{ readonly service: TestService; readonly browser: Browser }> | undefined
  const start = () =>
    (started ??= (async () => {
      const service = await runTestService()
      closing.push(service.dispose)
      const browser = await launchBrowser()
      closing.push(() => browser.close())
      return { service, browser }
    })())
  return { start, closing }
}

/** Returns the sample program of a language. *Code for this session* must be open. */
export const shownCode = async (page: Page, language: string): Promise<string> => {
  await page.getByRole('tab', { name: language }).click()
  return page.getByRole('region', { name: language }).innerText()
}
