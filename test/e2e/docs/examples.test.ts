import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import { passwordOf, startTestService } from '../../support/service/service.ts'
import { programPath, testWith } from '../../support/running/skip-unless.ts'
import { sampleSentences } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const PAGES = ['README.md', ...globSync('docs/{start,guides}/*.md')]

/** Returns the examples of a page that are marked with `<!-- run -->` or `<!-- run: LANGUAGE -->`. */
const examplesOf = (file: string, language: string): ReadonlyArray<string> => {
  const mark = language === 'sh' ? '<!-- run -->' : `<!-- run: ${language} -->`
  return [...readFileSync(file, 'utf8').matchAll(new RegExp(`${mark}\\n\`\`\`\\w+\\n([^]*?)\`\`\``, 'g'))].map(
    ([, example = '']) => example,
  )
}

const run = promisify(execFile)

testWith(programPath('curl'))('the shell examples of the documents print the documented results', async (t) => {
  const service = await startTestService(t)
  const { token } = await service.user('ada', { permissions: ['user_retention'] })
  const environment = { ...CHILD_ENVIRONMENT, TOKEN: token, PASSWORD: passwordOf('ada') }
  const answers: Array<string> = []
  for (const file of PAGES)
    for (const example of examplesOf(file, 'sh')) {
      const commands = example.replaceAll('http://127.0.0.1:8080', service.url())
      const script = `set -euo pipefail\n${commands}\necho "token=\${#TOKEN}"`
      const { stdout } = await run('bash', ['-c', script], { env: environment })
      t.regex(stdout, /^\{"data":\{"id":\d+,[^]*token=\d{2,}|^token=\d{2,}/, `${file}: ${example}${stdout}`)
      answers.push(stdout)
    }
  t.true(answers.length >= 5)
})

test('the client of the README prints the transcribed text', async (t) => {
  const service = await startTestService(t)
  const { token } = await service.user('coder')
  const directory = await temporaryDirectory()
  t.teardown(directory.remove)
  const [sentence] = await sampleSentences()
  for (const program of PAGES.flatMap((file) => examplesOf(file, 'javascript'))) {
    const file = join(directory.path, 'client.mjs')
    await writeFile(file, program)
    const ran = run(process.execPath, [file], { env: { STENOLOG_URL: service.url(), STENOLOG_TOKEN: token } })
    ran.child.stdin?.end(Buffer.from(sentence?.samples.buffer ?? new ArrayBuffer(0)))
    t.regex((await ran).stdout, /meeting/i)
  }
  t.plan(1)
})
