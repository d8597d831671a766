/**
 * `node tools/picture/make.ts`: takes the screenshots in docs/images/ from the console while it transcribes the sample.
 * Needs Debian's chromium and ffmpeg (with libwebp).
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { chromium, type Page } from 'playwright-core'
import { logIn } from '../../interfaces/cli/streaming/api-client.ts'
import { startServiceProcess } from '../../interfaces/cli/service-process.ts'

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const [FRAMES_PER_SECOND, SECONDS] = [5, 12]
const MAX_BYTES = 1_000_000
const USER = { username: 'ada', password: 'a password for the picture' }
const run = promisify(execFile)

/** Takes screenshots at fixed times. A late screenshot is skipped, and the one before it stays visible longer. */
const film = async (page: Page, directory: string): Promise<void> => {
  const frames: Array<string> = []
  const begin = performance.now()
  for (let n = 0; n < FRAMES_PER_SECOND * SECONDS; n++) {
    const due = begin + (n * 1000) / FRAMES_PER_SECOND
    if (performance.now() > due + 1000 / FRAMES_PER_SECOND) continue
    await delay(Math.max(0, due - performance.now()))
    const name = `${String(n).padStart(3, '0')}.png`
    await writeFile(join(directory, name), await page.screenshot())
    frames.push(name)
  }
  const numbers = frames.map((name) => Number.parseInt(name, 10))
  const lines = frames.flatMap((name, index) => {
    const shots = (numbers[index + 1] ?? FRAMES_PER_SECOND * SECONDS) - (numbers[index] ?? 0)
    return [`file '${name}'`, `duration ${shots / FRAMES_PER_SECOND}`]
  })
  await writeFile(join(directory, 'frames.txt'), `${lines.join('\n')}\n`)
}

const toWebp = async (directory: string, to: string): Promise<void> => {
  await run('ffmpeg', [
    '-y', '-loglevel', 'error', '-f', 'concat', '-i', join(directory, 'frames.txt'),
    '-vf', 'scale=960:-1:flags=lanczos',
    '-fps_mode', 'vfr', '-c:v', 'libwebp_anim', '-quality', '60', '-compression_level', '6', '-loop', '0', to,
  ])
  const { size } = await stat(to)
  if (size > MAX_BYTES) throw new Error(`${to} has ${size} bytes, more than ${MAX_BYTES}`)
}

const takeStill = async (page: Page, colorScheme: 'light' | 'dark', directory: string): Promise<void> => {
  await page.emulateMedia({ colorScheme })
  const file = join(directory, `${colorScheme}.png`)
  await writeFile(file, await page.screenshot())
  const image = join(IMAGES, `console-${colorScheme}.webp`)
  await run('ffmpeg', ['-y', '-loglevel', 'error', '-i', file, '-c:v', 'libwebp', '-quality', '80', image])
}

const directory = await mkdtemp(join(tmpdir(), 'stenolog-picture-'))
const service = await startServiceProcess({
  STENOLOG_HOST: '127.0.0.1', STENOLOG_PORT: '0', STENOLOG_DATA_DIR: join(directory, 'data'), STENOLOG_VRAM_MB: '16000',
  STENOLOG_ADMIN_USERNAME: USER.username, STENOLOG_ADMIN_PASSWORD: USER.password,
})
const browser = await chromium.launch(
  { executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'] },
)
try {
  await logIn(service.url, USER.username, USER.password)
  const page = await browser.newPage(
    { viewport: { width: 1120, height: 700 }, colorScheme: 'light', reducedMotion: 'reduce' },
  )
  await page.goto(`${service.url}/`)
  await page.getByLabel('Username').fill(USER.username)
  await page.getByLabel('Password').fill(USER.password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByLabel('Sample').check()
  await page.getByLabel('Spanish', { exact: true }).check()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('Listening').first().waitFor()
  await film(page, directory)
  await toWebp(directory, join(IMAGES, 'console.webp'))
  for (const scheme of ['light', 'dark'] as const) await takeStill(page, scheme, directory)
} finally {
  await browser.close()
  await service.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
}
