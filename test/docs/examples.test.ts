import { execFile, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { passwordOf, startTestService } from '../support/service.ts'
import { sampleSentences } from '../support/speech.ts'

const PAGES = ['README.md', ...globSync('docs/{start,guides}/*.md')]

/** The examples of a page that are marked to be run, `<!-- run -->` or `<!-- run: LANGUAGE -->`. */
const examplesOf = (file: string, language: string): ReadonlyArray<string> => {
  const mark = language === 'sh' ? '<!-- run -->' : `<!-- run: ${language} -->`
  return [...readFileSync(file, 'utf8').matchAll(new RegExp(`${mark}\\n\`\`\`\\w+\\n([^]*?)\`\`\``, 'g'))].map(([, example = '']) => example)
}

const run = promisify(execFile)

test('the shell examples of the documents do what they say', async (t) => {
  const service = await startTestService(t)
  const { token } = await service.user('ada', { permissions: ['user_retention'] })
  const environment = { PATH: process.env['PATH'], TOKEN: token, PASSWORD: passwordOf('ada') }
  const answers: Array<string> = []
  for (const file of PAGES)
    for (const example of examplesOf(file, 'sh')) {
      const script = `set -euo pipefail\n${example.replaceAll('http://127.0.0.1:8080', service.url())}\necho "token=\${#TOKEN}"`
      const { stdout } = await run('bash', ['-c', script], { env: environment })
      t.regex(stdout, /^\{"data":\{"id":\d+,[^]*token=\d{2,}|^token=\d{2,}/, `${file}: ${example}${stdout}`)
      answers.push(stdout)
    }
  t.true(answers.length >= 5)
})

interface Clients {
  readonly language: 'javascript' | 'python'
  readonly command: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** What the clients of the documents print of the sample's first sentence. */
const heardBy = async ({ language, command, environment }: Clients): Promise<ReadonlyArray<string>> => {
  const [sentence] = await sampleSentences()
  const directory = await mkdtemp(join(tmpdir(), 'stenolog-docs-'))
  try {
    return await Promise.all(PAGES.flatMap((file) => examplesOf(file, language)).map(async (program, index) => {
      const file = join(directory, `client${index}.${language === 'python' ? 'py' : 'mjs'}`)
      await writeFile(file, program)
      const ran = run(command, [file], { env: { ...process.env, ...environment } })
      ran.child.stdin?.end(Buffer.from(sentence?.samples.buffer ?? new ArrayBuffer(0)))
      return (await ran).stdout
    }))
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

test('the clients of the documents print what was said', async (t) => {
  const service = await startTestService(t)
  const { token } = await service.user('coder')
  const environment = { STENOLOG_URL: service.url(), STENOLOG_TOKEN: token }
  const heard = await heardBy({ language: 'javascript', command: process.execPath, environment })
  t.is(heard.length, 2)
  for (const text of heard) t.regex(text, /meeting/i)
  // Where Python or its package is not there, the program is only read.
  const python = process.env['STENOLOG_TEST_PYTHON'] ?? 'python3'
  const hasPackage = spawnSync(python, ['-c', 'import websocket']).status === 0
  if (hasPackage) for (const text of await heardBy({ language: 'python', command: python, environment })) t.regex(text, /meeting/i)
  for (const program of PAGES.flatMap((file) => examplesOf(file, 'python'))) {
    const read = spawnSync(python, ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: program, encoding: 'utf8' })
    t.true(read.error !== undefined || read.status === 0, read.stderr)
  }
})
