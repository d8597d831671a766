import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { createClient } from '../../support/service/client.ts'
import { CHROMIUM } from '../../support/browser/browser.ts'
import { checkEveryLook, openConsole, sharedConsole } from '../../support/browser/console.ts'
import { runTestService } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

const { start, closing } = sharedConsole()
const browserTest = testWith(CHROMIUM)

/** Milliseconds of one frame of a display with 60 Hz. */
const FRAME_MS = 17

const line = (segment: number): string =>
  JSON.stringify({ type: 'transcription', start: segment, end: segment + 1, text: `Line ${segment} of a long day.`,
    language: 'en', segment, final: true })

/** Measures how many milliseconds the page needs to draw one more line. Returns the fifth fastest of 15 lines. */
const TIME_TO_ADD_LINES = `(async (from) => {
  const times = []
  for (let i = 0; i < 15; i += 1) {
    const since = performance.now()
    window.say(from + i)
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
    times.push(performance.now() - since)
  }
  return times.toSorted((a, b) => a - b)[4]
})`

browserTest('a page with 10,000 captions can be searched and adds captions nearly as fast as a short one',
  async (t) => {
  const { service, browser } = await start()
  const client = await service.user('talker')
  const live = await client.createLive()
  const page = await openConsole(t, browser, { url: service.url(), token: client.token })
  const socketOpened = Promise.withResolvers<(segment: number) => void>()
  await page.routeWebSocket(/\/ws\/live\//, (socket) => {
    socket.send('{"type":"connection","status":"connected","role":"listener","session_id":7,"state":"active"}')
    socketOpened.resolve((segment) => socket.send(line(segment)))
  })
  await page.exposeFunction('say', async (segment: number) => (await socketOpened.promise)(segment))
  await page.goto(`${service.url()}/#/sessions/${live.id}`)
  await page.reload()
  const say = await socketOpened.promise
  for (let segment = 1; segment <= 200; segment += 1) say(segment)
  await page.getByText('Line 200 of').waitFor()
  const msOnShortPage = await page.evaluate<number>(`${TIME_TO_ADD_LINES}(201)`)
  for (let segment = 216; segment <= 10_000; segment += 1) say(segment)
  await page.getByText('Line 10000 of').waitFor({ timeout: 120_000 })
  const msOnLongPage = await page.evaluate<number>(`${TIME_TO_ADD_LINES}(10001)`)
  t.log(`${msOnShortPage.toFixed(1)} ms at 200 lines, ${msOnLongPage.toFixed(1)} ms at 10,000`)
  t.true(msOnLongPage <= 3 * Math.max(msOnShortPage, FRAME_MS), `${msOnLongPage} ms instead of ${msOnShortPage} ms`)
  t.is(await page.getByRole('log').locator('time').count(), 10_015)
  t.true(await page.evaluate(`window.find('Line 17 of a long day')`), 'the browser search finds an early caption')
})

/** Returns a free port. With a fixed port the service restarts at the same address. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

for (const [signal, event] of [['SIGKILL', 'is killed'], ['SIGTERM', 'restarts (1012)']] as const)
  browserTest(`the console shows each caption once after the service ${event}`, async (t) => {
    const { browser } = await start()
    const service = await runTestService({ PORT: String(await freePort()) })
    closing.push(service.dispose)
    const { token } = await service.user('listener', { permissions: ['user_retention'] })
    const client = createClient(service.url(), token)
    const live = await client.createLive({ live_retention: true })
    const page = await openConsole(t, browser, { url: service.url(), token, at: `#/sessions/${live.id}` })
    const sender = await client.socket(live, 'sender')
    sender.send({ type: 'config' })
    await sender.frame(({ status }) => status === 'started')
    const [first] = await sampleSentences()
    sender.sendAudio(first?.samples ?? silence(0))
    sender.sendAudio(silence(1.5))
    const lines = page.getByRole('log').locator('p')
    await lines.first().waitFor()
    await service.kill(signal)
    await service.start()
    await page.getByText('✓ finished').waitFor({ timeout: 60_000 })
    const kept = await client.api.call('getTranscript', { path: { id: live.id } })
    const texts = typeof kept === 'string' ? [] : kept.data.transcript.map(({ text }) => text)
    t.deepEqual(await lines.locator('bdi').allInnerTexts(), texts)
  })

browserTest('a listener of a pending session receives its captions after a service restart (1012)', async (t) => {
  const { browser } = await start()
  const service = await runTestService({ PORT: String(await freePort()) })
  closing.push(service.dispose)
  const { token } = await service.user('patient')
  const client = createClient(service.url(), token)
  const live = await client.createLive()
  const page = await openConsole(t, browser, { url: service.url(), token })
  const [opened, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  page.on('websocket', (socket) => {
    socket.on('framereceived', () => opened.resolve())
    socket.on('close', () => closed.resolve())
  })
  await page.goto(`${service.url()}/#/sessions/${live.id}`)
  await opened.promise
  await service.kill('SIGTERM')
  await closed.promise
  await service.start()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const [first] = await sampleSentences()
  sender.sendAudio(first?.samples ?? silence(0))
  sender.sendAudio(silence(1.5))
  await page.getByRole('log').getByText('meeting').waitFor()
  t.is(await page.getByRole('log').locator('bdi').count(), 1)
})

const PAGES = ['#/speak', '#/sessions', '#/profiles', '#/tokens', '#/account', '#/about', '#/administration',
  '#/administration/users', '#/administration/models', '#/administration/jobs']

browserTest('every page fits right-to-left texts that are 50 % longer', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.admin()
  const page = await openConsole(t, browser, { url: service.url(), token })
  for (const hash of PAGES) {
    // The texts `pseudo` are the English texts, made longer and put between ⟦ and ⟧.
    await page.goto(`${service.url()}/?texts=pseudo${hash}`)
    await page.getByRole('heading', { level: 1, name: '⟦' }).waitFor()
    await page.waitForLoadState('networkidle')
    t.is(await page.evaluate('document.documentElement.dir'), 'rtl')
    await checkEveryLook(t, page, hash)
  }
})

browserTest('a user can start, mute, stop and reopen a session with the keyboard only', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.user('typist')
  const page = await openConsole(t, browser, { url: service.url(), token })
  await page.getByRole('button', { name: 'Start' }).waitFor()
  const tabTo = async (name: RegExp): Promise<void> => {
    for (let i = 0; i < 60; i += 1) {
      await page.keyboard.press('Tab')
      const named = await page.evaluate<string>(
        `(({ textContent, id }) =>
          (document.querySelector('label[for="' + id + '"]')?.textContent ?? textContent))(document.activeElement)`,
      )
      if (name.test(named)) return
    }
    t.fail(`nothing named ${name} is reached by Tab`)
  }
  await tabTo(/^Skip to main content/)
  await page.keyboard.press('Enter')
  await tabTo(/^Spanish/)
  await page.keyboard.press('Space')
  t.true(await page.getByLabel('Spanish').isChecked())
  await page.keyboard.press('Control+Enter')
  await page.getByRole('log').locator('p[lang=es]').first().waitFor()
  await page.evaluate('document.activeElement.blur()')
  await page.keyboard.press('m')
  await page.getByRole('button', { name: 'Unmute' }).waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByText('✓ Done').waitFor()
  await tabTo(/share, timeline/)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /^Session \d/ }).waitFor()
  await tabTo(/^Captions/)
  await page.keyboard.press('ArrowRight')
  await page.getByRole('img', { name: 'QR code' }).waitFor()
})
