import { CHROMIUM, watchPolicy } from '../support/browser.ts'
import { checkAccess, sharedConsole } from '../support/console.ts'
import { caption, scripted } from '../support/embed-page.ts'
import { testWith } from '../support/skip-unless.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

const LOOK_OF_TEXT = `(({ color, fontSize }) => ({ color, fontSize }))(getComputedStyle(document.querySelector('#captions')))`

browserTest('B49, B46: with controls=1 an audience chooses language, size and contrast, and shows it on the full screen', async (t) => {
  const { service, browser } = await start()
  const page = await browser.newPage({ viewport: { width: 800, height: 400 } })
  const refused = watchPolicy(page)
  const socket = await scripted(page, `${service.url()}/embed/live/7?controls=1&color_text=ff0000&background_color=ffffff#token=any`)
  await page.getByRole('group', { name: 'Display' }).waitFor()
  socket.send(caption(1, 'Good morning.'))
  socket.send(caption(1, 'Buenos días.', { type: 'translation', language: 'es' }))
  socket.send(caption(2, 'Today is Saturday.'))
  const lines = page.locator('#lines p')
  await lines.nth(1).waitFor()
  t.deepEqual(await lines.allTextContents(), ['Good morning.', 'Today is Saturday.'])
  t.deepEqual(await page.getByLabel('Language').locator('option').allTextContents(), ['As spoken', 'Spanish'])
  await page.getByLabel('Language').selectOption('Spanish')
  t.deepEqual(await lines.evaluateAll((all) => all.map(({ textContent, lang }) => [textContent, lang])), [['Buenos días.', 'es']])
  socket.send(caption(2, 'Hoy es sábado.', { type: 'translation', language: 'es' }))
  await lines.nth(1).waitFor()
  await page.getByLabel('Language').selectOption('As spoken')
  t.deepEqual(await lines.allTextContents(), ['Good morning.', 'Today is Saturday.'])

  await page.getByLabel('Contrast').selectOption('Yellow on black')
  await page.getByLabel('Size').fill('48')
  t.deepEqual(await page.evaluate(LOOK_OF_TEXT), { color: 'rgb(255, 255, 0)', fontSize: '48px' })
  await checkAccess(t, page, 'page for an audience')
  await page.getByLabel('Contrast').selectOption('As given')
  t.like(await page.evaluate(LOOK_OF_TEXT), { color: 'rgb(255, 0, 0)' })
  await page.getByRole('button', { name: 'Full screen' }).click()
  await page.getByRole('button', { name: 'Leave full screen' }).click()
  await page.getByRole('button', { name: 'Full screen', exact: true }).waitFor()
  t.deepEqual(refused, [])
})
