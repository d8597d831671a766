import test from 'ava'
import type { Browser } from 'playwright-core'
import { CHROMIUM, launchBrowser } from '../support/browser.ts'
import { checkAccess, openConsole } from '../support/console.ts'
import { runTestService } from '../support/service.ts'
import type { TestService } from '../support/service.ts'
import { testWith } from '../support/skip-unless.ts'

const browserTest = testWith(CHROMIUM)
const closing: Array<() => unknown> = []
test.after.always(async () => {
  for (const close of closing.toReversed()) await close()
})

let started: Promise<{ readonly service: TestService; readonly browser: Browser }> | undefined
/** One service and one browser for all tests, and none where they are skipped. */
const start = () =>
  (started ??= (async () => {
    const service = await runTestService()
    closing.push(service.dispose)
    const browser = await launchBrowser()
    closing.push(() => browser.close())
    return { service, browser }
  })())

browserTest('one click hears the sample, with translations, until it is stopped', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.user('sampler')
  const page = await openConsole(t, browser, { url: service.url(), token })
  await page.getByText('demo-en understands synthetic voices only').waitFor()
  t.true(await page.getByLabel('Sample').isChecked())
  await checkAccess(t, page, 'speak, idle')
  await page.getByLabel('es', { exact: true }).check()
  t.regex(page.url(), /into=es/)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('log').getByText('meeting').waitFor()
  await page.getByRole('banner').getByText('Live 00:0').waitFor()
  await page.getByRole('log').locator('p[lang=es]').first().waitFor()
  await checkAccess(t, page, 'speak, listening')
  await page.keyboard.press('Control+Enter')
  await page.getByText('✓ Done').waitFor()
  await page.getByRole('link', { name: /share, timeline, download/ }).waitFor()
  t.is(await page.getByRole('banner').getByText('Live 00:0').count(), 0)
})
