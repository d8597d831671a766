import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServiceProcess } from '../../../interfaces/cli/service-process.ts'
import { CHROMIUM, launchBrowser } from '../../support/browser/browser.ts'
import { logIn } from '../../support/service/client.ts'
import { openConsole, watchPage } from '../../support/browser/console.ts'
import { prefixed } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { startTestStores } from '../../support/stores/stores.ts'

const browserTest = testWith(CHROMIUM)
const PASSWORD = 'a long enough password'

browserTest('a user sets up Stenolog with the printed link, and logs in and out in several tabs',
  async (t) => {
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

  const visitor = await openConsole(t, browser, { url: service.url })
  await visitor.getByRole('heading', { name: 'Stenolog has no administrator yet' }).waitFor()

  const page = await openConsole(t, browser, { url: service.url })
  const link = await service.setupLink()
  await page.goto(link)
  await page.getByLabel('Username').fill('ada')
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByLabel('Password again').fill('another password')
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByText('The two passwords are different.').waitFor()
  t.is(await page.getByLabel('Password again').getAttribute('aria-invalid'), 'true')

  await page.getByLabel('Password again').fill(PASSWORD)
  await page.getByRole('button', { name: 'Create administrator' }).click()
  await page.getByRole('heading', { name: 'Speak now' }).waitFor()
  t.false(page.url().includes('token'), 'the address bar contains no secret')
  const admin = await logIn(service.url, 'ada', PASSWORD)
  t.is((await admin.get('/users/')).status, 200)

  // A second tab of the browser needs no password, and a log-out affects all tabs.
  const secondTab = await page.context().newPage()
  const complaints = watchPage(secondTab)
  await secondTab.goto(service.url)
  await secondTab.getByRole('heading', { name: 'Speak now' }).waitFor()
  await secondTab.getByRole('button', { name: 'Log out' }).click()
  for (const tab of [page, secondTab]) await tab.getByRole('heading', { name: 'Log in' }).waitFor()
  t.is(await page.evaluate('sessionStorage.length + localStorage.length + document.cookie.length'), 0)

  await page.getByLabel('Username').fill('ada')
  await page.getByLabel('Password').fill('the wrong password')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByText('Wrong username or password').waitFor()
  await page.getByLabel('Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Speak now' }).waitFor()
  await secondTab.getByRole('heading', { name: 'Speak now' }).waitFor()
  t.deepEqual(complaints, [])

  await visitor.goto(link)
  await visitor.getByText('Stenolog is set up. Log in.').waitFor()
})
