import { cp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { readWhisperDirectory } from '../../../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { temporaryDirectory } from '../../../../support/tools/temporary-directory.ts'

/** Returns the reason why a copy of demo-en is refused after `damage`. */
const reasonAfter = async (t: ExecutionContext, damage: (folder: string) => unknown): Promise<string> => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  await cp('models/demo-en', path, { recursive: true })
  await damage(path)
  const model = await readWhisperDirectory(path)
  return E.isLeft(model) ? model.left : 'accepted'
}

type Members = Readonly<Record<string, unknown>>

const withMembers = (file: string, members: (json: Members) => Members) => async (folder: string) => {
  const path = join(folder, file)
  const json = JSON.parse(await readFile(path, 'utf8')) as Members
  await writeFile(path, JSON.stringify({ ...json, ...members(json) }))
}

/** The vocabulary of demo-en with other entries. */
const withVocabulary = (vocab: (present: Members) => unknown) =>
  withMembers('tokenizer.json', ({ model }) => ({ model: { ...(model as Members), vocab: vocab(
    (model as { readonly vocab: Members }).vocab) } }))

test('a model with sizes that no real model has is refused before memory is reserved for them', async (t) => {
  for (const [file, name] of [
    ...['decoder_layers', 'decoder_attention_heads', 'num_mel_bins', 'd_model', 'vocab_size', 'max_source_positions',
      'max_target_positions'].map((name) => ['config.json', name] as const),
    ...['feature_size', 'sampling_rate', 'n_fft', 'hop_length'].map((name) =>
      ['preprocessor_config.json', name] as const),
  ])
    t.is(
      (await reasonAfter(t, withMembers(file, () => ({ [name]: 1_000_001 })))).replace(/(is not integer).*/, '$1'),
      `${file}: ${name} is missing or is not integer`,
    )
})

test('a tokenizer whose vocabulary is no list of tokens is refused', async (t) => {
  for (const vocab of [7, 'x', null, undefined, [1, 2], { a: 'b' }, { a: -1 }, { a: 1e300 }, { a: 4e9 }])
    t.regex(await reasonAfter(t, withVocabulary(() => vocab)), /^tokenizer\.json: model\.vocab/, JSON.stringify(vocab))
  t.is(await reasonAfter(t, withVocabulary((present) => present)), 'accepted')
})

test('a JSON file of a model that never ends or is huge is refused without reading it', async (t) => {
  const never = async (folder: string): Promise<void> => {
    await rm(join(folder, 'tokenizer.json'))
    await symlink('/dev/zero', join(folder, 'tokenizer.json'))
  }
  t.is(await reasonAfter(t, never), 'tokenizer.json is not a file')
  const huge = (folder: string) => truncate(join(folder, 'tokenizer.json'), 2 ** 34)
  t.is(await reasonAfter(t, huge), 'tokenizer.json is larger than 64 MiB')
})
