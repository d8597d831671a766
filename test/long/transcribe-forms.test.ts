import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { stenolog } from '../support/command-line.ts'
import { sampleSentences } from '../support/speech.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { wavOf } from '../support/wav.ts'

const folder = await temporaryDirectory()
const at = (name: string): string => join(folder.path, name)
const [sentence] = await sampleSentences()
await writeFile(at('talk.wav'), wavOf(sentence?.samples ?? new Int16Array(), 16_000))
test.after.always(folder.remove)

const FORMS = {
  vtt: /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\n[^<]*meeting/,
  txt: /^[^\n]*meeting[^\n]*\n$/,
} as const

for (const [ending, form] of Object.entries(FORMS))
  test(`what was said is written as ${ending} where the file ends so`, async (t) => {
    const file = at(`talk.${ending}`)
    const { code, stdout, stderr } = await stenolog(at('unused'), ['transcribe', at('talk.wav'), '--speed', 'max', '--output', file])
    t.is(code, 0, stderr)
    t.regex(await readFile(file, 'utf8'), form)
    t.regex(stdout, /meeting/)
  })

test('what was said is written as JSON, as it is told with --json', async (t) => {
  const { code, stdout, stderr } = await stenolog(at('unused'), ['transcribe', at('talk.wav'), '--speed', 'max', '--json', '--output', at('talk.JSON')])
  t.is(code, 0, stderr)
  t.deepEqual(JSON.parse(await readFile(at('talk.JSON'), 'utf8')), JSON.parse(stdout))
})
