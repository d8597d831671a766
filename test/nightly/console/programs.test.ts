import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CHROMIUM } from '../../support/browser/browser.ts'
import { checkAccess, openConsole, sharedConsole, shownCode as shown } from '../../support/browser/console.ts'
import { programPath, testWith } from '../../support/running/skip-unless.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { wavOf } from '../../support/audio/wav.ts'

const { start } = sharedConsole()

testWith(CHROMIUM, programPath('curl'))('the example programs shown in the console work', async (t) => {
  const { service, browser } = await start()
  const { token, api } = await service.user('coder')
  const { data } = await api.call('createToken', { body: { name: 'program' } })
  const page = await openConsole(t, browser, { url: service.url(), token })
  await page.getByText('Code for this session').click()
  await checkAccess(t, page, 'speak, programs')
  const environment = { PATH: process.env['PATH'], STENOLOG_TOKEN: data.token }
  const curl = (await shown(page, 'curl')).replace(/^export .*\n/, '')
  const [sentence] = await sampleSentences()
  const audio = Buffer.from(sentence?.samples.buffer ?? new ArrayBuffer(0))
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-test-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'client.mjs'), await shown(page, 'JavaScript'))
  await writeFile(join(directory, 'client.py'), await shown(page, 'Python'))
  const created = spawnSync('bash', ['-c', curl], { env: environment, encoding: 'utf8' })
  t.is((JSON.parse(created.stdout) as { readonly data: { readonly status: string } }).data.status, 'pending',
    created.stderr)
  const client = spawnSync(process.execPath, [join(directory, 'client.mjs')],
    { env: environment, encoding: 'utf8', input: audio })
  t.regex(client.stdout, /meeting/i, client.stderr)
  const compiled = spawnSync('python3', ['-m', 'py_compile', join(directory, 'client.py')], { encoding: 'utf8' })
  t.is(compiled.status, 0, compiled.stderr)
})

testWith(CHROMIUM)(
  'a file is transcribed at full speed, and another program gets an address for its audio',
  async (t) => {
    const { service, browser } = await start()
    const { token, api } = await service.user('filer')
    const page = await openConsole(t, browser, { url: service.url(), token, at: '#/speak?source=file' })
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('alert').getByText('Choose a file.').waitFor()
    await page
      .getByLabel('Audio or video file')
      .setInputFiles({ name: 'x.wav', mimeType: 'audio/wav', buffer: Buffer.from('no audio') })
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('alert').getByText('The browser cannot read this file.').waitFor()
    const [first, second] = await sampleSentences()
    const recording = Int16Array.of(...(first?.samples ?? []), ...silence(1), ...(second?.samples ?? []))
    const file = { name: 'voice.wav', mimeType: 'audio/wav', buffer: wavOf(recording, 16_000) }
    await page.getByLabel('Audio or video file').setInputFiles(file)
    await page.getByLabel('Speed').selectOption('fast')
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByText('✓ Done').waitFor()
    t.regex((await page.getByRole('log').locator('bdi').allInnerTexts()).join(' '), /meeting.*Saturday/s)

    await page.getByLabel('Another program').check()
    await page.getByRole('button', { name: 'Create session' }).click()
    await page.getByText('Your program sends its audio to this address').waitFor()
    const [live] = (await api.call('listLives')).data
    await page.getByText(`/ws/live/${live?.id}?token=${live?.sender_token}`).waitFor()
  },
)
