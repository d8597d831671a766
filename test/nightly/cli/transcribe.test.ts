import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { stenolog } from '../../support/service/command-line.ts'
import { sampleSentences } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'
import { wavOf } from '../../support/audio/wav.ts'

const folder = await temporaryDirectory()
const at = (name: string): string => join(folder.path, name)
const [sentence] = await sampleSentences()
await writeFile(at('talk.wav'), wavOf(sentence?.samples ?? new Int16Array(), 16_000))
test.after.always(folder.remove)

const transcribe = (args: ReadonlyArray<string>, settings: Readonly<Record<string, string>> = {}) =>
  stenolog(at('unused'), ['transcribe', at('talk.wav'), '--speed', 'max', ...args], settings)

const FORMS = {
  vtt: /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n[^<]*meeting/,
  txt: /^[^\n]*meeting[^\n]*\n$/,
} as const

for (const [ending, form] of Object.entries(FORMS))
  test(`what was said is written as ${ending} where the file ends so`, async (t) => {
    const file = at(`talk.${ending}`)
    const { code, stdout, stderr } = await transcribe(['--output', file])
    t.is(code, 0, stderr)
    t.regex(await readFile(file, 'utf8'), form)
    t.regex(stdout, /meeting/)
  })

test('what was said is written as JSON, as it is told with --json', async (t) => {
  const { code, stdout, stderr } = await transcribe(['--json', '--output', at('talk.JSON')])
  t.is(code, 0, stderr)
  t.deepEqual(JSON.parse(await readFile(at('talk.JSON'), 'utf8')), JSON.parse(stdout))
})

test('a model that is not installed is told with the command that installs it', async (t) => {
  const known = await transcribe(['--model', 'base'], { MODELS_DIR: folder.path })
  t.is(known.code, 1)
  t.true(
    known.stderr.endsWith('error: Model "base" is not installed.\nhint: Run: npm run stenolog -- models pull base\n'),
    known.stderr,
  )
  const misspelt = await transcribe(['--model', 'demoen'])
  t.is(misspelt.code, 1)
  t.is(
    misspelt.stderr,
    'error: Model "demoen" is not installed. Did you mean demo-en?\nhint: npm run stenolog -- models list\n',
  )
})

test('what the service refuses is told in its words, of the file that it is about', async (t) => {
  const { code, stderr } = await transcribe(['--language', 'de'])
  t.is(code, 1)
  t.regex(stderr, /^error: .*talk\.wav: The service refused the session \(4\d\d\): [^{]+\n$/)
})
