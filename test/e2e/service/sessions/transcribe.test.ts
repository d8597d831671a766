import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { stenolog } from '../../../support/service/command-line.ts'
import { sampleSentences } from '../../../support/audio/speech.ts'
import { temporaryDirectory } from '../../../support/tools/temporary-directory.ts'
import { wavOf } from '../../../support/audio/wav.ts'

const folder = await temporaryDirectory()
const pathOf = (name: string): string => join(folder.path, name)
const [sentence] = await sampleSentences()
await writeFile(pathOf('talk.wav'), wavOf(sentence?.samples ?? new Int16Array(), 16_000))
test.after.always(folder.remove)

const transcribe = (args: ReadonlyArray<string>) =>
  stenolog(pathOf('unused'), ['transcribe', pathOf('talk.wav'), '--speed', 'max', ...args])

test('transcribe writes SubRip subtitles to an output file named .srt', async (t) => {
  const file = pathOf('talk.srt')
  const { code, stdout, stderr } = await transcribe(['--output', file])
  t.is(code, 0, stderr)
  t.regex(await readFile(file, 'utf8'), /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\n[^<]*meeting/)
  t.regex(stdout, /meeting/)
})

test('transcribe reports an impossible output before it transcribes', async (t) => {
  const noFolder = await transcribe(['--output', pathOf('nowhere/talk.srt')])
  t.is(noFolder.code, 1)
  t.is(noFolder.stderr, `error: There is no folder "${pathOf('nowhere')}".\nhint: mkdir -p ${pathOf('nowhere')}\n`)
  const twoFiles = await transcribe([pathOf('talk.wav'), '--output', pathOf('talk.srt')])
  t.is(twoFiles.code, 2)
  t.regex(twoFiles.stderr, /^error: --output needs exactly one audio file\.\nhint: npm run transcribe -- /)
})
