import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { stenolog } from '../../../support/service/command-line.ts'
import { sampleSentences } from '../../../support/audio/speech.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'
import { wavOf } from '../../../support/audio/wav.ts'

const folder = await temporaryDirectory()
const at = (name: string): string => join(folder.path, name)
const [sentence] = await sampleSentences()
await writeFile(at('talk.wav'), wavOf(sentence?.samples ?? new Int16Array(), 16_000))
test.after.always(folder.remove)

const transcribe = (args: ReadonlyArray<string>) =>
  stenolog(at('unused'), ['transcribe', at('talk.wav'), '--speed', 'max', ...args])

test('transcribe writes SubRip subtitles to an output file named .srt', async (t) => {
  const file = at('talk.srt')
  const { code, stdout, stderr } = await transcribe(['--output', file])
  t.is(code, 0, stderr)
  t.regex(await readFile(file, 'utf8'), /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n[^<]*meeting/)
  t.regex(stdout, /meeting/)
})

test('transcribe reports an impossible output before it transcribes', async (t) => {
  const nowhere = await transcribe(['--output', at('nowhere/talk.srt')])
  t.is(nowhere.code, 1)
  t.is(nowhere.stderr, `error: There is no folder "${at('nowhere')}".\nhint: mkdir -p ${at('nowhere')}\n`)
  const two = await transcribe([at('talk.wav'), '--output', at('talk.srt')])
  t.is(two.code, 2)
  t.regex(two.stderr, /^error: --output needs exactly one audio file\.\nhint: npm run transcribe -- /)
})
