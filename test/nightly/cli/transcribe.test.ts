import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { stenolog } from '../../support/service/command-line.ts'
import { sampleSentences } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { wavOf } from '../../support/audio/wav.ts'

const folder = await temporaryDirectory()
const pathOf = (name: string): string => join(folder.path, name)
const [sentence] = await sampleSentences()
await writeFile(pathOf('talk.wav'), wavOf(sentence?.samples ?? new Int16Array(), 16_000))
test.after.always(folder.remove)

const transcribe = (args: ReadonlyArray<string>, settings: Readonly<Record<string, string>> = {}) =>
  stenolog(pathOf('unused'), ['transcribe', pathOf('talk.wav'), '--speed', 'max', ...args], settings)

const FORMS = {
  vtt: /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n[^<]*meeting/,
  txt: /^[^\n]*meeting[^\n]*\n$/,
} as const

for (const [ending, form] of Object.entries(FORMS))
  test(`--output writes the transcript as ${ending} when the file name ends in .${ending}`, async (t) => {
    const file = pathOf(`talk.${ending}`)
    const { code, stdout, stderr } = await transcribe(['--output', file])
    t.is(code, 0, stderr)
    t.regex(await readFile(file, 'utf8'), form)
    t.regex(stdout, /meeting/)
  })

test('--output with a .json file writes the same JSON that --json prints', async (t) => {
  const { code, stdout, stderr } = await transcribe(['--json', '--output', pathOf('talk.JSON')])
  t.is(code, 0, stderr)
  t.deepEqual(JSON.parse(await readFile(pathOf('talk.JSON'), 'utf8')), JSON.parse(stdout))
})

test('an unknown model prints the command that installs it', async (t) => {
  const missing = await transcribe(['--model', 'base'], { MODELS_DIR: folder.path })
  t.is(missing.code, 1)
  t.true(
    missing.stderr.endsWith('error: Model "base" is not installed.\nhint: Run: npm run stenolog -- models pull base\n'),
    missing.stderr,
  )
  const misspelt = await transcribe(['--model', 'demoen'])
  t.is(misspelt.code, 1)
  t.is(
    misspelt.stderr,
    'error: Model "demoen" is not installed. Did you mean demo-en?\nhint: npm run stenolog -- models list\n',
  )
})

test('a refused session prints the file and the reason of the service', async (t) => {
  const { code, stderr } = await transcribe(['--language', 'de'])
  t.is(code, 1)
  t.regex(stderr, /^error: .*talk\.wav: The service refused the session \(4\d\d\): [^{]+\n$/)
})
