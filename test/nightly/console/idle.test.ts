import { CHROMIUM } from '../../support/browser/browser.ts'
import { openConsole, sharedConsole } from '../../support/browser/console.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { testWith } from '../../support/running/skip-unless.ts'

const { start } = sharedConsole()

const PAGES = ['#/speak', '#/sessions', '#/profiles', '#/tokens', '#/account', '#/administration',
  '#/administration/users', '#/administration/sessions', '#/administration/models', '#/administration/jobs']
const [MINUTE, STEP] = [60_000, 1000]

testWith(CHROMIUM)('an idle tab sends at most one request in 2 s, and a hidden tab sends none', async (t) => {
  const { service, browser } = await start()
  const client = await service.admin()
  const live = await client.createLive()
  const page = await openConsole(t, browser, { url: service.url(), token: client.token })
  await page.clock.install()
  let [requests, unanswered] = [0, 0]
  page.on('request', () => {
    requests += 1
    unanswered += 1
  })
  page.on('requestfinished', () => (unanswered -= 1))
  page.on('requestfailed', () => (unanswered -= 1))
  const requestsInAMinute = async (): Promise<number> => {
    const before = requests
    for (let time = 0; time < MINUTE; time += STEP) {
      await page.clock.runFor(STEP)
      await eventually(() => {
        if (unanswered > 0) throw new Error(`${unanswered} requests are not answered`)
      })
    }
    return requests - before
  }
  for (const hash of [...PAGES, `#/sessions/${live.id}`]) {
    await page.goto(`${service.url()}/${hash}`)
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    const idle = await requestsInAMinute()
    t.true(idle <= MINUTE / 2000, `${hash}: ${idle} requests in a minute`)
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`)
    t.is(await requestsInAMinute(), 0, `${hash}, hidden`)
  }
  t.true(requests > 0)
})
