import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { writeTranscript } from '../../../../../interfaces/cli/streaming/transcript-file.ts'
import { temporaryDirectory } from '../../../../support/tools/temporary-directory.ts'

const REPORT = { segments: [{ start: 1, end: 2.5, text: 'Good morning,\neveryone.' }] }

for (const [ending, content] of [
  ['srt', '1\n00:00:01,000 --> 00:00:02,500\nGood morning, everyone.\n'],
  ['VTT', 'WEBVTT\n\n00:00:01.000 --> 00:00:02.500\nGood morning, everyone.\n'],
  ['txt', 'Good morning, everyone.\n'],
  ['json', `${JSON.stringify(REPORT, null, 2)}\n`],
] as const)
  test(`a transcript file that ends with .${ending} has the format of its ending`, async (t) => {
    const { path, remove } = await temporaryDirectory()
    t.teardown(remove)
    const file = join(path, `talk.${ending}`)
    writeTranscript(file, REPORT)
    t.is(await readFile(file, 'utf8'), content)
  })
