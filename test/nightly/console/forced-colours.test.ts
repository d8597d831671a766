import { CHROMIUM } from '../../support/browser/browser.ts'
import { openConsole, sharedConsole } from '../../support/browser/console.ts'
import { testWith } from '../../support/running/skip-unless.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

browserTest('forced colours keep every meaningful mark visible', async (t) => {
  const { service, browser } = await start()
  const client = await service.user('contrast')
  const live = await client.createLive()
  const context = { forcedColors: 'active', colorScheme: 'dark' } as const
  const at = `#/sessions/${live.id}?tab=share`
  const page = await openConsole(t, browser, { url: service.url(), token: client.token, at, context })
  await page.getByRole('img', { name: 'QR code' }).waitFor()
  const styles = await page.evaluate<unknown>(`(() => {
    const style = (selector) => getComputedStyle(document.querySelector(selector))
    const probe = document.body.appendChild(document.createElement('p'))
    probe.style.color = 'Highlight'
    const { color: highlight } = getComputedStyle(probe)
    probe.remove()
    return {
      isForced: matchMedia('(forced-colors: active)').matches,
      qrCode: [style('.qr').backgroundColor, style('.qr path').fill],
      currentLink: style('nav a[aria-current]').borderBottomStyle,
      selectedTab: style('[role=tab][aria-selected=true]').borderBottomWidth,
      isMarked: ['nav a[aria-current]', '[role=tab][aria-selected=true]']
        .map((selector) => style(selector).borderBottomColor === highlight),
      buttonsWithoutBorder: Array.from(document.querySelectorAll('main button:not([role])'))
        .map((button) => getComputedStyle(button).borderTopWidth)
        .filter((width) => width === '0px'),
    }
  })()`)
  t.deepEqual(styles, {
    isForced: true,
    qrCode: ['rgb(255, 255, 255)', 'rgb(0, 0, 0)'],
    currentLink: 'solid',
    selectedTab: '3px',
    isMarked: [true, true],
    buttonsWithoutBorder: [],
  })
})
