import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ExecutionContext } from 'ava'
import type { Browser } from 'playwright-core'
import { launchBrowser } from './browser.ts'
import { openConsole, type sharedConsole } from './console.ts'
import { sampleSentences, silence } from '../audio/speech.ts'
import { eventually } from '../tools/eventually.ts'
import { wavOf } from '../audio/wav.ts'

/** Silence before each repetition, so each one gets a line of its own. */
const LEAD_SECONDS = 4

/**
 * Launches a browser whose microphone plays the first sentence of the sample again and again. The microphone plays as
 * soon as it is opened, so a busy page may miss the first repetition. `rate`: its sample rate.
 */
export const launchWithMicrophone = async (rate: number, closing: Array<() => unknown>): Promise<Browser> => {
  const [sentence] = await sampleSentences()
  const spoken = Int16Array.of(...silence(LEAD_SECONDS), ...(sentence?.samples ?? []))
  const resampled = Int16Array.from({ length: Math.floor((spoken.length * rate) / 16_000) }, (_, i) => {
    const position = (i * 16_000) / rate
    const [before, after] = [spoken[Math.floor(position)] ?? 0, spoken[Math.ceil(position)] ?? 0]
    return Math.round(before + (after - before) * (position % 1))
  })
  const path = join(await mkdtemp(join(tmpdir(), 'stenolog-test-')), 'voice.wav')
  closing.push(() => rm(dirname(path), { recursive: true, force: true }))
  await writeFile(path, wavOf(resampled, rate))
  const browser = await launchBrowser(
    '--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${path}`,
    '--host-resolver-rules=MAP stenolog.test 127.0.0.1',
  )
  closing.push(() => browser.close())
  return browser
}

/** Speaks the first sentence into the microphone of this browser and checks the transcribed words. */
export const transcribeVoice = async (
  t: ExecutionContext,
  start: ReturnType<typeof sharedConsole>['start'],
  browser: Browser,
): Promise<void> => {
  const { service } = await start()
  const { token } = await service.user('speaker')
  const context = { permissions: ['microphone'] }
  const page = await openConsole(t, browser, { url: service.url(), token, at: '#/speak?source=microphone', context })
  await page.getByRole('button', { name: 'Start' }).click()
  const [sentence] = await sampleSentences()
  const words = (text: string): string => text.toLowerCase().replaceAll(/[^a-z ]/g, '')
  const expected = words(sentence?.text ?? '')
  const lines = page.getByRole('log').locator('bdi')
  const heard = await eventually(async () => {
    const texts = (await lines.allInnerTexts()).map(words)
    assert.ok(texts.includes(expected), texts.join('\n'))
    return texts
  }, { timeoutMs: 90_000 })
  t.true(heard.includes(expected))
  await page.getByRole('button', { name: 'Mute' }).click()
  await page.getByText('no sound for 5 s').waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Stop' }).click()
  await page.getByText('✓ Done').waitFor()
}
