import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { runTestService } from '../service/service.ts'
import type { TestService } from '../service/service.ts'

/**
 * What the browser itself says: of answers that are no success, of sockets that nobody takes, and of a header that it
 * heeds over https alone.
 */
const OF_BROWSERS = /^Failed to load resource|^The Cross-Origin-Opener-Policy header has been ignored|^WebSocket connection to .* failed/

/** All that a page of the console may not do: break a policy, write an error to the console, fail. */
export const watchPage = (page: Page): ReadonlyArray<string> => {
  const complaints: Array<string> = []
  page.on('console', (message) => {
    if (message.type() === 'error' && !OF_BROWSERS.test(message.text())) complaints.push(message.text())
    if (/content security policy|trusted ?types?|violates|agent cluster/i.test(message.text())) complaints.push(message.text())
  })
  page.on('requestfailed', (request) => {
    if (/blocked/i.test(request.failure()?.errorText ?? '')) complaints.push(request.url())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  return complaints
}

export interface ConsoleOptions {
  readonly url: string
  /** A token of `POST /login`; without it nobody is logged in. */
  readonly token?: string | undefined
  /** Where it begins, such as `#/sessions`. */
  readonly at?: string
  readonly context?: Parameters<Browser['newContext']>[0]
}

/** Milliseconds that anything may take on a machine that has more to do. */
const PATIENCE = 90_000

/** A tab of its own with the console in it; the test fails at its end for anything that the page may not do. */
export const openConsole = async (t: ExecutionContext, browser: Browser, options: ConsoleOptions): Promise<Page> => {
  const context: BrowserContext = await browser.newContext(options.context)
  context.setDefaultTimeout(PATIENCE)
  const page = await context.newPage()
  const complaints = watchPage(page)
  t.teardown(async () => {
    await context.close()
    if (complaints.length > 0) throw new Error(complaints.join('\n'))
  })
  if (options.token !== undefined) {
    // A sandboxed frame has no storage.
    const script = `if (window === top && sessionStorage.length === 0) sessionStorage.setItem('stenolog token /', ${JSON.stringify(options.token)})`
    await page.addInitScript({ content: script })
  }
  await page.goto(`${options.url}/${options.at ?? ''}`)
  return page
}

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core')), 'utf8')

interface AxeFinding {
  readonly id: string
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary?: string }>
}

/** What depends on colours and on room; the rest of the rules looks at what the page is made of. */
const OF_LOOKS = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable']
const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** What is against WCAG 2.2 AA on the page as it is, as far as axe-core sees with these rules or sets of rules. */
const findingsOf = async (page: Page, rules: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  // By the debugger, which no policy of the page holds up.
  if (!(await page.evaluate<boolean>('\'axe\' in window'))) await page.evaluate(AXE)
  const run = `axe.run({ runOnly: ${JSON.stringify(rules)}, resultTypes: ['violations'] }).then(({ violations }) => violations)`
  const findings = await page.evaluate<ReadonlyArray<AxeFinding>>(run)
  return findings.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`))
}

/** Of a page that scrolls sideways the elements that reach out of it. */
const WIDER = `document.documentElement.scrollWidth <= innerWidth ? [] : Array.from(document.querySelectorAll('body *'))
  .filter((element) => element.getBoundingClientRect().right > innerWidth).map(({ tagName, className, id }) => [tagName, className, id].join(' '))`

/**
 * Looks at the page as it is: in dark colours 320 pixels wide, where it may not scroll sideways, and wide in light ones
 * at what depends on the look.
 */
export const checkAccess = async (t: ExecutionContext, page: Page, state: string): Promise<void> => {
  const size = page.viewportSize()
  t.deepEqual(await findingsOf(page, OF_LOOKS), [], `${state}, light`)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.setViewportSize({ width: 320, height: 640 })
  t.deepEqual(await findingsOf(page, ALL), [], `${state}, dark, 320 px`)
  t.deepEqual(await page.evaluate(WIDER), [], `${state} scrolls sideways`)
  await page.emulateMedia({ colorScheme: 'light' })
  if (size !== null) await page.setViewportSize(size)
}

/** The same with all rules in both colours, wide and narrow: too long for every run. */
export const checkEveryLook = async (t: ExecutionContext, page: Page, state: string): Promise<void> => {
  const size = page.viewportSize()
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [320, 1280]) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 640 })
      t.deepEqual(await findingsOf(page, ALL), [], `${state}, ${colorScheme}, ${width} px`)
      t.deepEqual(await page.evaluate(WIDER), [], `${state}, ${width} px, scrolls sideways`)
    }
  await page.emulateMedia({ colorScheme: 'light' })
  if (size !== null) await page.setViewportSize(size)
}

/** One service and one browser for all tests of a file, started by the first that is not skipped. */
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

/** The program of a language that the page shows, once *Code for this session* is open. */
export const shownCode = async (page: Page, language: string): Promise<string> => {
  await page.getByRole('tab', { name: language }).click()
  return page.getByRole('region', { name: language }).innerText()
}
