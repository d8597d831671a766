import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { cp, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'ava'
import { CHILD_ENVIRONMENT } from '../../support/tools/child-environment.ts'
import type { Json, Listing } from '../../support/service/client.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { startHub } from '../../support/models/hub.ts'
import { runTestService } from '../../support/service/service.ts'
import { sampleSentences, silence } from '../../support/audio/speech.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const MAIN = join(import.meta.dirname, '..', '..', '..', 'interfaces', 'cli', 'main.ts')
const ID = 'someone/whisper-base'
const models = await temporaryDirectory()
const service = await runTestService({ MODELS_DIR: models.path })
const teardowns: Array<() => unknown> = [service.dispose, models.remove]
const hub = await startHub({ teardown: (end) => void teardowns.unshift(end) }, ID, 'models/demo-en')
test.after.always(async () => {
  for (const teardown of teardowns) await teardown()
})

const startCommand = (args: ReadonlyArray<string>) => {
  const env = { ...CHILD_ENVIRONMENT, STENOLOG_DATA_DIR: service.dataDirectory, STENOLOG_MODELS_DIR: models.path }
  const child = spawn(process.execPath, [MAIN, 'models', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const code = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, code, stdout: text(child.stdout), stderr: text(child.stderr) }
}

/** Runs `stenolog models …` in a separate process while the service runs. */
const run = async (...args: ReadonlyArray<string>) => {
  const { code, stdout, stderr } = startCommand(args)
  return { code: await code, stdout: await stdout, stderr: await stderr }
}

const json = async <A>(...args: ReadonlyArray<string>): Promise<A> => {
  const { code, stdout, stderr } = await run(...args, '--json')
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout) as A
}

const listed = async (name: string): Promise<Json | undefined> =>
  (await service.anonymous().get<Listing<Json>>(`/models?name=${name}`)).body.data[0]

test.serial(
  'a killed pull leaves no folder, and the next pull resumes and installs the model in the service',
  async (t) => {
    t.is(await listed('base'), undefined)
    hub.faults.push({ path: /^onnx\/encoder/, times: 1, kind: { breaksAfter: 1_000_000, silent: true } })
    const killed = startCommand(['pull', ID, '--hub', hub.url.href])
    const part = join(
      models.path,
      '.pulling/base/parts',
      hash('sha256', await readFile('models/demo-en/onnx/encoder_model_quantized.onnx')),
    )
    await eventually(async () => {
      if ((await stat(part)).size === 0) throw new Error('the part file is empty')
    })
    killed.child.kill('SIGKILL')
    t.is(await killed.code, null)
    t.deepEqual(await readdir(models.path), ['.pulling'])
    t.is(await listed('base'), undefined)

    const pulled = await run('pull', ID, '--hub', hub.url.href)
    t.is(pulled.code, 0, pulled.stderr)
    t.regex(pulled.stdout, /^base is installed in .*\/base \(\d+ MB of memory\); the running service lists it$/m)
    t.regex(pulled.stderr, /█ 100 % {2}5\.2 of 5\.2 MB/)
    t.true(
      hub.requests.some((line) => /^storage onnx\/encoder_model_quantized\.onnx bytes=\d+-$/.test(line)),
      'the second pull requests the missing bytes only',
    )
    t.deepEqual(await readdir(models.path), ['base'])
    const row = (await json<ReadonlyArray<Json>>('list')).find(({ name }) => name === 'base')
    t.like(row, {
      kind: 'speech',
      active: true,
      measured: true,
      languages: ['en'],
      source: ID,
      precision: 'int8',
      folder: join(models.path, 'base'),
    })
    t.is((await listed('base'))?.['vram'], row?.['vram'], 'a session reserves the measured memory')
  },
)

test.serial('a session uses a pulled model without a restart, and a model in use cannot be removed', async (t) => {
  const client = await service.user('speaker')
  const live = await client.createLive({ model: 'base' })
  const sender = await client.socket(live, 'sender')
  sender.send({ type: 'config' })
  await sender.frame((frame) => frame['status'] === 'started')
  const refused = await run('remove', 'base')
  t.is(refused.code, 1)
  t.regex(refused.stderr, new RegExp(`^error: base is in use by session ${live.id}\\.$`, 'm'))
  const [sentence] = await sampleSentences()
  sender.sendAudio(sentence?.samples ?? silence(0))
  sender.sendAudio(silence(2))
  t.true(String((await sender.frame(({ final }) => final === true))['text']).length > 5)
  sender.send({ type: 'FINISH' })
  await sender.closed

  t.like((await json<ReadonlyArray<Json>>('disable', 'base'))[0], { name: 'base', active: false })
  t.is((await client.post('/lives', { model: 'base', language: 'en' })).status, 404)
  t.like((await json<ReadonlyArray<Json>>('enable', 'base'))[0], { name: 'base', active: true })
  t.like(await json('remove', 'whisper-base'), { name: 'base' })
  t.is(await listed('base'), undefined)
  t.deepEqual(await readdir(models.path), [])
  t.is((await client.post('/lives', { model: 'base', language: 'en' })).status, 404)
})

test.serial(
  'verify lists each broken file, and stores the hashes and the measured memory of a copied model',
  async (t) => {
    await cp('models/demo-en', join(models.path, 'mine'), { recursive: true })
    const [first] = await json<ReadonlyArray<{ readonly files: ReadonlyArray<Json> }>>('verify', 'mine')
    t.like(first, { name: 'mine', problem: null, kept: true })
    t.is(first?.files.filter(({ state }) => state === 'ok').length, 8)
    t.true((await readdir(join(models.path, 'mine'))).includes('stenolog.json'))
    t.regex((await run('verify', 'mine')).stdout, /^mine: ok, \d+ MB of memory$/m)

    // The size stays equal, so only the hash shows the change.
    await writeFile(join(models.path, 'mine/tokenizer_config.json'), 'x'.repeat(193))
    const changed = await run('verify', 'mine')
    t.is(changed.code, 1)
    t.regex(changed.stdout, /^tokenizer_config\.json +0\.00 +hash +/m)
    t.regex(changed.stdout, /^mine: 1 of 8 files have problems/m)

    await cp('models/demo-en', join(models.path, 'other'), { recursive: true })
    await truncate(join(models.path, 'other/onnx/decoder_model_quantized.onnx'), 700_000)
    await writeFile(join(models.path, 'other/generation_config.json'), '{')
    const damaged = await run('verify', 'other')
    t.is(damaged.code, 1)
    t.regex(damaged.stdout, /^onnx\/decoder_model_quantized\.onnx +0\.70 +damaged +\S/m)
    t.regex(damaged.stdout, /^generation_config\.json +0\.00 +damaged +generation_config\.json is not JSON$/m)
    t.regex(damaged.stdout, /^onnx\/encoder_model_quantized\.onnx +2\.24 +ok$/m)
    t.is((await run('remove', 'other')).code, 0, 'a damaged model can be removed')
  },
)

test.serial('models: each refused command prints one line and exits with 1 or 2', async (t) => {
  const cases: ReadonlyArray<readonly [ReadonlyArray<string>, RegExp, number?]> = [
    [
      ['pull', 'huge'],
      /^error: Unknown model "huge"\. Use a name \(base\), .* or a folder \(\.\/path\)\.\nhint: Names: tiny, base/,
      2,
    ],
    [['pull', 'nobody/nothing', '--hub', hub.url.href], /has no public model of this name/],
    [['pull', ID, '--hub', hub.url.href, '--precision', 'fp16'], /no fp16 export; available: int8/],
    [['pull', ID, '--hub', hub.url.href, '--as', '../up'], /is not a valid model name/, 2],
    [['pull', './models/demo-en', '--as', 'mine'], /mine is already installed/],
    [['remove', 'demo-en'], /demo-en ships with the service/],
    [['remove', '../..'], /is not a valid model name/, 2],
    [['remove', 'nothing'], /Model "nothing" is not installed/],
    [['enable', 'nothing'], /Model "nothing" is not installed/],
    [['pull'], /stenolog models pull needs WHAT/, 2],
  ]
  for (const [args, expected, exitCode = 1] of cases) {
    const { code, stderr } = await run(...args)
    t.is(code, exitCode, args.join(' '))
    t.regex(stderr, expected, args.join(' '))
  }
})
