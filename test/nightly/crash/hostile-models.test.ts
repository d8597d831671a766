import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { DEMO, openEngine, SHEEP, sheep, SIMON, simon, textOf, transcribe } from '../../support/engine/test-engine.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

/** Copies the demo model with vocabularies switched on and another tokenizer. Returns the folder. */
const withTokenizer = async (t: ExecutionContext, change: (text: string) => string): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await cp(DEMO, path, { recursive: true })
  const config = JSON.parse(await readFile(join(path, 'config.json'), 'utf8')) as object
  await writeFile(join(path, 'config.json'), JSON.stringify({ ...config, stenolog: { dynamic_window: true } }))
  const file = join(path, 'tokenizer.json')
  await writeFile(file, change(await readFile(file, 'utf8')))
  return path
}

const withMember = (member: object) => (text: string): string =>
  JSON.stringify({ ...(JSON.parse(text) as object), ...member })

const SLOW = { type: 'Replace', pattern: { Regex: '(a+)+$' }, content: 'b' }
const DEPTH = 100_000
const DEEP = `${'{"type":"Sequence","normalizers":['.repeat(DEPTH)}${']}'.repeat(DEPTH)}`

test('a tokenizer that never ends or cannot be built fails its own model only', async (t) => {
  t.timeout(300_000)
  const broken: Readonly<Record<string, string>> = {
    deep: await withTokenizer(t, (text) => withMember({ normalizer: 'deep' })(text).replace('"deep"', DEEP)),
    regex: await withTokenizer(t, withMember({ normalizer: { ...SLOW, pattern: { Regex: '(' } } })),
    unknown: await withTokenizer(t, withMember({ normalizer: { type: '__proto__' } })),
  }
  const slow = await withTokenizer(t, withMember({ normalizer: SLOW }))
  const models = new Map([...Object.entries(broken), ['slow', slow], ['demo-en', DEMO]])
  const limits = { detect: 5000, transcribe: 10_000, load: 20_000, unmeasured: 10_000 }
  const { engine } = openEngine(t, { models, limits })
  for (const name of Object.keys(broken)) t.like(await engine.load(name), { _tag: 'Left' }, name)
  t.is(textOf(await transcribe(engine, simon)), SIMON)

  t.like(await engine.load('slow'), { _tag: 'Right' })
  const vocabulary = { prompt: `${'a'.repeat(64)}!`, hotwords: [] }
  const [stuck, others] = await Promise.all([
    engine.transcribe({ model: 'slow', language: 'en', samples: simon, vocabulary }),
    transcribe(engine, sheep),
  ])
  t.regex(E.isLeft(stuck) ? stuck.left.reason : '', /took longer than/)
  t.is(textOf(others), SHEEP)
  t.is(textOf(await transcribe(engine, simon)), SIMON, 'the engine goes on')
})
