import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startServiceProcess } from '../../../interfaces/cli/service-process.ts'
import { CHROMIUM, launchBrowser } from '../../support/browser/browser.ts'
import { openConsole } from '../../support/browser/console.ts'
import { startHub } from '../../support/models/hub.ts'
import { prefixed } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { startTestStores } from '../../support/stores/stores.ts'
import { WHISPER_BASE, SPEECH_RECORDINGS } from '../../support/models/whisper-base.ts'

const VOICE = resolve(SPEECH_RECORDINGS, 'jfk.wav')
const journeyTest = testWith(CHROMIUM, WHISPER_BASE, VOICE)
const PASSWORD = 'a long enough password'

journeyTest('a first start leads to captions of a real voice on a second screen', async (t) => {
  const startedAt = performance.now()
  const logStep = (step: string): void => t.log(`${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${step}`)
  const hub = await startHub(t, 'onnx-community/whisper-base_timestamped', WHISPER_BASE)
  const dataDirectory = await mkdtemp(join(tmpdir(), 'stenolog-test-'))
  const stores = await startTestStores()
  const service = await startServiceProcess(
    prefixed({
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: dataDirectory,
      DRAIN_TIMEOUT: '0s',
      HUB_URL: hub.url.href,
      ...stores.settings,
    }),
  )
  const browser = await launchBrowser(
    '--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${VOICE}%noloop`,
  )
  t.teardown(async () => {
    await browser.close()
    await service.end('SIGKILL')
    await stores.dispose()
    await rm(dataDirectory, { recursive: true, force: true })
  })
  const link = await service.setupLink()
  logStep('the service has printed the link')

  const page = await openConsole(t, browser, { url: service.url, context: { permissions: ['microphone'] } })
  await page.goto(link)
  await page.getByLabel('Username').fill('ada')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Password again').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('heading', { name: 'Speak now' }).waitFor()
  t.is(new URL(page.url()).pathname, '/', 'the address contains no setup token')
  logStep('the administrator is logged in')

  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('log').locator('bdi').first().waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Stop' }).click()
  await page.getByText('✓ Done').waitFor()
  logStep('the sample was transcribed')

  await page.getByRole('link', { name: 'Install base' }).click()
  await page.getByRole('button', { name: 'Install', exact: true }).click()
  await page.getByText('base is installed.').waitFor({ timeout: 120_000 })
  logStep('the model is installed')

  await page.getByRole('link', { name: 'Use the model now' }).click()
  await page.getByRole('heading', { name: 'Speak now' }).waitFor()
  t.is(await page.getByLabel('Model', { exact: true }).inputValue(), 'base')
  t.true(await page.getByRole('radio', { name: 'Microphone' }).isChecked())
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('● Listening').waitFor({ timeout: 60_000 })
  logStep('the microphone is transcribed')
  await page.getByRole('link', { name: /share, timeline/ }).click()
  await page.getByRole('tab', { name: 'Share' }).click()
  const audience = await page.getByRole('region', { name: 'Link for the audience' }).innerText()
  t.is(await page.getByRole('link', { name: 'Open in a new tab' }).getAttribute('href'), audience)

  const screen = await openConsole(t, browser, { url: service.url })
  await screen.goto(audience)
  await screen.getByText(/country/).first().waitFor({ timeout: 60_000 })
  logStep('the first words are on the second screen')
  await screen.getByText(/can do for your country/).first().waitFor({ timeout: 60_000 })
  logStep('the last words are on the second screen')
})
