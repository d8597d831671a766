import type { Browser } from 'playwright-core'
import { CHROMIUM } from '../../support/browser/browser.ts'
import { checkAccess, openConsole, sharedConsole, shownCode } from '../../support/browser/console.ts'
import { transcribeVoice, launchWithMicrophone } from '../../support/browser/microphone.ts'
import { serialTestWith, testWith } from '../../support/running/skip-unless.ts'

const { start, closing } = sharedConsole()
const browserTest = testWith(CHROMIUM)

const HEADER_IN_ONE_ROW = `(() => {
  const links = Array.from(document.querySelectorAll('header li'))
  const isOneRow = new Set(links.map(({ offsetTop }) => offsetTop)).size === 1
  return isOneRow && document.querySelector('header').offsetHeight < 2 * links[0].offsetHeight
})()`

browserTest('one click transcribes the sample, with translations, until it is stopped', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.user('a sampler of great patience', { permissions: ['admin'] })
  const page = await openConsole(t, browser, { url: service.url(), token })
  await page.getByText('demo-en understands only synthetic voices').waitFor()
  t.true(await page.getByLabel('Sample').isChecked())
  const banner = page.getByRole('banner')
  await banner.getByText('MB reserved').waitFor()
  await banner.getByRole('link', { name: 'Administration' }).waitFor()
  t.true(await page.evaluate(HEADER_IN_ONE_ROW), 'the idle header has one row')
  await checkAccess(t, page, 'speak, idle')
  await page.getByLabel('Spanish').check()
  t.regex(page.url(), /into=es/)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('log').getByText('meeting').waitFor()
  await page.getByRole('banner').getByText(/Live \d\d:\d\d/).waitFor()
  t.is(page.viewportSize()?.width, 1280)
  t.true(await page.evaluate(HEADER_IN_ONE_ROW), 'the header with the Stop button has one row')
  await page.getByRole('log').locator('p[lang=es]').first().waitFor()
  await checkAccess(t, page, 'speak, listening')
  await page.keyboard.press('Control+Enter')
  await page.getByText('✓ Done').waitFor()
  await page.getByRole('link', { name: /share, timeline, download/ }).waitFor()
  t.is(await page.getByRole('banner').getByText(/Live \d\d:\d\d/).count(), 0)
})

let launched: Promise<Browser> | undefined
/** One browser for all tests. Only one test at a time may open its microphone. */
const browserWithMicrophone = (): Promise<Browser> => (launched ??= launchWithMicrophone(48_000, closing))

// test/nightly/console tests another sample rate.
serialTestWith(CHROMIUM)('a voice at 48000 Hz is transcribed correctly', async (t) => {
  await transcribeVoice(t, start, await browserWithMicrophone())
})

browserTest('a blocked, missing or plain-http microphone shows a message with the next step',
  async (t) => {
  const { service, browser } = await start()
  const { token } = await service.user('microphone user')
  const blocked = await openConsole(t, await browserWithMicrophone(),
    { url: service.url(), token, at: '#/speak?source=microphone' })
  await blocked.getByRole('button', { name: 'Start' }).click()
  await blocked.getByRole('alert').getByText('The microphone is blocked for this page.').waitFor()
  await checkAccess(t, blocked, 'speak, blocked')
  const missing = await openConsole(t, browser, {
    url: service.url(), token, at: '#/speak?source=microphone', context: { permissions: ['microphone'] },
  })
  await missing.getByRole('button', { name: 'Start' }).click()
  await missing.getByRole('alert').getByText('No microphone was found.').waitFor()
  const plain = await openConsole(t, await browserWithMicrophone(), {
    url: service.url().replace('127.0.0.1', 'stenolog.test'), token, at: '#/speak?source=microphone',
  })
  await plain.getByText('This page uses plain http').waitFor()
  await plain.getByRole('button', { name: 'Start' }).click()
  await plain.getByRole('alert').getByText('only on https and localhost').waitFor()
  // Without https the page has no clipboard, so it selects the text instead.
  await plain.getByText('Code for this session').click()
  const program = await shownCode(plain, 'curl')
  await plain.getByRole('button', { name: 'Copy' }).click()
  await plain.getByText('Press Ctrl+C to copy').waitFor()
  t.is((await plain.evaluate<string>('String(getSelection())')).trim(), program.trim())
})

browserTest('a refusal of the service shows its message, next to the field that caused it', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.user('limited', { max_sessions: 0 })
  const page = await openConsole(t, browser, { url: service.url(), token })
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('alert').getByText('0 of 0 sessions are open').waitFor()
  await page.getByRole('radio', { name: 'URL' }).check()
  await page.getByLabel('Address').fill('http://127.0.0.1/stream.m3u8')
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('names an address that is not public').waitFor()
  t.is(await page.getByLabel('Address').getAttribute('aria-invalid'), 'true')
})
