import { stenolog } from '../../support/service/command-line.ts'
import { CHROMIUM } from '../../support/browser/browser.ts'
import { createClient } from '../../support/service/client.ts'
import { openConsole, sharedConsole } from '../../support/browser/console.ts'
import { openHttpProxy } from '../../support/tools/tcp-proxy.ts'
import { startTestService } from '../../support/service/service.ts'
import { testWith } from '../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'

const { start } = sharedConsole()
const browserTest = testWith(CHROMIUM)

for (const [grace, outcome] of [['0s', 'ends'], ['20s', 'continues']] as const)
  browserTest(`a browser session ${outcome} after a lost connection, RECONNECT_GRACE=${grace}`, async (t) => {
    const { browser } = await start()
    const service = await startTestService(t, { RECONNECT_GRACE: grace })
    const proxy = await openHttpProxy(service.url())
    t.teardown(proxy.close)
    const { token, api } = await service.user('traveller')
    const page = await openConsole(t, browser, { url: proxy.url, token })
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('log').getByText('meeting').waitFor()
    proxy.reset()
    const [live] = (await api.call('listLives')).data
    if (grace === '0s') {
      await page.getByRole('alert').waitFor()
      await page.getByRole('button', { name: 'Start' }).waitFor()
      t.is((await api.call('getLive', { path: { id: live?.id ?? 0 } })).data.status, 'finished')
      return
    }
    await page.getByRole('log').getByText('Saturday').waitFor()
    await page.getByRole('main').getByRole('button', { name: 'Stop' }).click()
    await page.getByText('✓ Done').waitFor()
    const texts = await page.getByRole('log').locator('bdi').allInnerTexts()
    t.is(new Set(texts).size, texts.length, 'no caption appears twice')
  })

interface Replayed {
  readonly state: Readonly<Record<string, unknown>>
}

browserTest('the timeline shows the state that the replay command prints for each event', async (t) => {
  const { service, browser } = await start()
  const { token } = await service.user('historian')
  const client = createClient(service.url(), token)
  const live = await client.createLive()
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame(({ status }) => status === 'started')
  const [sentence] = await sampleSentences()
  sender.sendAudio(sentence?.samples ?? silence(0))
  sender.send({ type: 'FINISH' })
  await sender.closed
  const page = await openConsole(t, browser, { url: service.url(), token, at: `#/sessions/${live.id}?tab=timeline` })
  const state = page.getByRole('region', { name: 'State of the session after this event' })
  const member = async (name: string): Promise<string> =>
    await state
      .getByRole('row')
      .filter({ has: page.getByText(name, { exact: true }) })
      .locator('bdi')
      .first()
      .innerText()
  await state.waitFor()
  const { pagination } = await client.api.call('getHistory', { path: { id: live.id } })
  t.true(pagination.total_items >= 4)
  for (let entry = pagination.total_items; entry >= 1; entry -= 1) {
    await page.getByText(`after event ${entry} of ${pagination.total_items}`).waitFor()
    const { stdout } = await stenolog(service.dataDirectory, ['replay', String(live.id), '--at', String(entry - 1),
      '--json'], service.stores)
    const replayed = (JSON.parse(stdout) as Replayed).state
    await state.getByText(String(replayed['updatedAt'])).first().waitFor()
    t.deepEqual([await member('status'), await member('vram')], [String(replayed['status']), String(replayed['vram'])])
    if (entry > 1) await page.keyboard.press('[')
  }
})
