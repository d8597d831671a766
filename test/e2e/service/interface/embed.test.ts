import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { CHROMIUM, watchPolicy } from '../../../support/browser/browser.ts'
import { sharedConsole } from '../../../support/browser/console.ts'
import { createClient, type LiveJson } from '../../../support/service/client.ts'
import { eventually } from '../../../support/tools/eventually.ts'
import { openHttpProxy } from '../../../support/tools/tcp-proxy.ts'
import { testWith } from '../../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../../support/audio/speech.ts'

const embedTest = testWith(CHROMIUM)
const { start, closing } = sharedConsole()

const portOf = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1')
  closing.push(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Code that runs in the page is a string, because the tests have no browser types. */
const LOOK_OF = `(({ color, fontSize, textShadow }) => ({
  color, fontSize, textShadow, background: getComputedStyle(document.body).backgroundColor,
}))(getComputedStyle(document.querySelector('#captions')))`
/** Replaces setTimeout in the page: timers fire at once, and `note` records the requested delay. */
const WITHOUT_WAITING = `{
  const wait = setTimeout
  globalThis.setTimeout = (run, delay) => {
    note(delay)
    return wait(run, 0)
  }
}`

const LOOK = { background_color: '000080', color_text: 'ffff00', size_text: 40 }

embedTest('a sandboxed frame of another origin shows live captions and resumes after a lost connection', async (t) => {
  const { service, browser } = await start()
  const proxy = await openHttpProxy(service.url())
  closing.push(proxy.close)
  const { token = '' } = await service.user('speaker')
  const client = createClient(proxy.url, token)
  const live = await client.createLive({ translations: ['es'], ...LOOK })
  const snippet = String(live['iframe_html'])
  const embedder = createHttpServer((_request, response) =>
    response.setHeader('Content-Type', 'text/html').end(`<!doctype html><p>A page</p>${snippet}`),
  )
  const port = await portOf(embedder)

  const page = await browser.newPage()
  const refused = watchPolicy(page)
  await page.goto(`http://localhost:${port}/`)
  const captions = page.frameLocator('iframe')
  await captions.getByText('The captions have not begun yet.').waitFor()
  const spanish = await browser.newPage()
  await spanish.goto(`${proxy.url}/api/v1/embed/live/${live.id}/?language=es#token=${live.listener_token}`)

  const [first, second] = await sampleSentences()
  const sender = await createClient(service.url(), token).socket(live, 'sender')
  const finals = (type: string): ReadonlyArray<unknown> =>
    sender.frames.filter((frame) => frame['type'] === type && frame['final'] === true).map(({ text }) => text)
  const shown = (): Promise<ReadonlyArray<string>> =>
    captions.locator('#lines p').evaluateAll((lines) => lines.map(({ textContent }) => textContent ?? ''))
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  sender.sendAudio(first?.samples ?? silence(0))
  sender.sendAudio(silence(1.5))
  await captions.locator('#lines p').first().waitFor()
  t.deepEqual(await shown(), finals('transcription'))
  t.regex((await shown())[0] ?? '', /meeting/)
  await spanish.locator('#lines p').first().waitFor()
  const style = await page.frames().at(-1)?.evaluate(LOOK_OF)
  t.deepEqual(style, { color: 'rgb(255, 255, 0)', fontSize: '40px', textShadow: 'none', background: 'rgb(0, 0, 128)' })

  const handshakes = (): ReadonlyArray<string> => proxy.requests().filter((head) => head.includes('/ws/live/'))
  t.is(handshakes().length, 2)
  proxy.reset()
  await eventually(() => assertAtLeast(handshakes().length, 4))
  t.true(
    handshakes()
      .slice(2)
      .every((head) => head.endsWith(`?token=${live.listener_token}&after=1`)),
    handshakes().join('\n'),
  )
  sender.sendAudio(second?.samples ?? silence(0))
  sender.sendAudio(silence(1.5))
  await captions.locator('#lines p').nth(1).waitFor()
  sender.send({ type: 'FINISH' })
  t.is((await sender.closed).code, 1000)
  await captions.getByText('The captions have ended.').waitFor()
  await spanish.getByText('The captions have ended.').waitFor()
  t.deepEqual(await shown(), finals('transcription'))
  t.is(finals('transcription').length, 2)
  const spanishLines = await spanish
    .locator('#lines p')
    .evaluateAll((lines) => lines.map(({ textContent, lang }) => [textContent, lang]))
  t.deepEqual<unknown, unknown>(spanishLines, finals('translation').map((text) => [text, 'es']))

  t.deepEqual(refused, [])
  const secrets = proxy.requests().filter((head) => head.includes(live.listener_token))
  t.deepEqual(secrets, handshakes(), 'the token is sent only in handshakes')
  t.false(service.log().includes(live.listener_token))
})

const assertAtLeast = (count: number, least: number): void => {
  if (count < least) throw new Error(`${count} instead of at least ${least}`)
}

embedTest('the page explains a wrong or missing token and an ended session, and retries a refusal twice', async (t) => {
  const { service, browser } = await start()
  const client = await service.user('host')
  const [open, finished]: ReadonlyArray<LiveJson> = [await client.createLive(), await client.createLive()]
  await client.put(`/lives/${finished?.id}/finish`)
  const page = await browser.newPage()
  const address = (live: LiveJson | undefined, token: string): string =>
    `${service.url()}/embed/live/${live?.id}#token=${token}`
  await page.goto(address(finished, finished?.listener_token ?? ''))
  await page.getByText('The captions have ended.').waitFor()
  await page.goto(`${service.url()}/embed/live/${open?.id}`)
  await page.getByText('This link is incomplete: its token is missing.').waitFor()

  // The token of the other session is a wrong token here.
  const wrongPage = await browser.newPage()
  const delays: Array<number> = []
  let [attempts, readinessChecks] = [0, 0]
  wrongPage.on('websocket', () => (attempts += 1))
  wrongPage.on('requestfinished', (request) => (readinessChecks += Number(request.url().endsWith('/embed/ready'))))
  await wrongPage.exposeFunction('note', (delay: number) => delays.push(delay))
  await wrongPage.addInitScript({ content: WITHOUT_WAITING })
  await wrongPage.goto(address(open, finished?.listener_token ?? ''))
  await wrongPage.getByText('These captions cannot be shown: the link is wrong or no longer valid.').waitFor()
  await eventually(() => assertAtLeast(attempts, 3))
  await eventually(() => assertAtLeast(readinessChecks, 3))
  // After this answer the page has also handled the answer to its own last request.
  await wrongPage.evaluate("fetch('/embed/ready').then((response) => response.text())")
  await eventually(() => assertAtLeast(service.log().split(`/ws/live/${open?.id}`).length - 1, 3))
  t.is(attempts, 3)
  t.is(delays.length, 2)
  for (const [index, delay] of delays.entries()) {
    const longest = 1000 * 2 ** index
    t.true(delay >= longest / 2 && delay <= longest, String(delays))
  }
})
