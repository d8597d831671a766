import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServiceProcess } from '../../interfaces/cli/service-process.ts'
import { CHROMIUM, launchBrowser } from '../support/browser.ts'
import { logIn } from '../support/client.ts'
import { prefixed } from '../support/service.ts'
import { testWith } from '../support/skip-unless.ts'
import { startTestStores } from '../support/stores.ts'

testWith(CHROMIUM)('the set-up page, in a real browser, creates the first administrator once', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'stenolog-test-'))
  const stores = await startTestStores()
  const settings = { HOST: '127.0.0.1', PORT: '0', DATA_DIR: dataDirectory, DRAIN_TIMEOUT: '0s', ...stores.settings }
  const service = await startServiceProcess(prefixed(settings))
  const browser = await launchBrowser()
  t.teardown(async () => {
    await browser.close()
    await service.end('SIGKILL')
    await stores.dispose()
    await rm(dataDirectory, { recursive: true, force: true })
  })

  const page = await browser.newPage()
  const complaints: Array<string> = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  const link = await service.setupLink()
  await page.goto(link)
  await page.getByLabel('Username').fill('ada')
  await page.getByLabel('Password', { exact: true }).fill('a long enough password')
  await page.getByLabel('Password again').fill('another password')
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('alert').filter({ hasText: /match|same|differ/i }).waitFor()

  await page.getByLabel('Password again').fill('a long enough password')
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('status').filter({ hasText: 'ada' }).waitFor()
  t.false(page.url().includes('token'), 'the secret has left the address bar')
  t.deepEqual(complaints, [], 'nothing was blocked by the page’s own policy')

  const admin = await logIn(service.url, 'ada', 'a long enough password')
  t.is((await admin.get('/users/')).status, 200)
  await page.goto(link)
  await page.getByText(/already|done/i).first().waitFor()
})
