import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { stenolog } from '../../support/service/command-line.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const folder = await temporaryDirectory()
test.after.always(folder.remove)

const MEMBERS = [
  'wer',
  'words',
  'first_display_s',
  'final_delay_s',
  'reference',
  'transcript',
  'segments',
  'translations',
  'events',
]

test('the demo prints the next steps, and the stored events with --events', async (t) => {
  t.timeout(300_000)
  const report = join(folder.path, 'report.json')
  const [plain, withEvents] = await Promise.all([
    stenolog(join(folder.path, 'a'), ['demo', '--report', report]),
    stenolog(join(folder.path, 'b'), ['demo', '--events']),
  ])
  for (const { code, stdout, stderr } of [plain, withEvents]) {
    t.deepEqual([code, stderr], [0, ''])
    t.regex(stdout, /\nTranscript\n {2}Good morning/)
    t.regex(
      stdout,
      /\nNext\n {2}npm start .*\n {2}npm run stenolog -- models pull base .*\n {2}npm run transcribe -- .*\n$/,
    )
  }
  t.notRegex(plain.stdout, /LiveCreated/)
  t.regex(withEvents.stdout, /\nStored events of the session\n(?:.*\n)*.* LiveCreated\n(?:.*\n)*.* LiveFinished\n/)
  const written = JSON.parse(await readFile(report, 'utf8')) as Readonly<Record<string, unknown>>
  for (const member of MEMBERS) t.true(member in written, member)
})
