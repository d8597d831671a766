import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { chooseFiles } from '../../../../infrastructure/model-hub/export-files.ts'

const names = (...paths: ReadonlyArray<string>) => paths.map((path) => ({ path, size: 1, hash: null }))
const JSONS = ['config.json', 'tokenizer.json', 'tokenizer_config.json']
const graphs = (suffix: string) =>
  ['encoder_model', 'decoder_model', 'decoder_with_past_model'].map((graph) => `onnx/${graph}${suffix}.onnx`)

test('of several precisions the requested one is taken, with the weight files next to its graphs', (t) => {
  const data = [
    'onnx/encoder_model.onnx_data',
    'onnx/encoder_model.onnx_data_1',
    'onnx/encoder_model.onnx_database',
    'onnx/encoder_model_fp16.onnx_data',
  ]
  const all = names(
    ...JSONS,
    ...graphs(''),
    ...graphs('_quantized'),
    ...graphs('_fp16'),
    ...graphs('_q4'),
    'onnx/decoder_model_merged.onnx',
    ...data,
  )
  const chosen = (precision: 'int8' | 'fp32' | 'fp16' | null, files = all): ReadonlyArray<string> => {
    const found = chooseFiles(files, precision)
    return E.isLeft(found) ? [found.left] : found.right.files.map(({ path }) => path)
  }
  t.deepEqual(chosen(null), [...JSONS, ...graphs('_quantized')])
  t.deepEqual(chosen('fp16'), [
    ...JSONS,
    'onnx/encoder_model_fp16.onnx',
    'onnx/encoder_model_fp16.onnx_data',
    ...graphs('_fp16').slice(1),
  ])
  t.deepEqual(chosen('fp32').slice(3, 6), [
    'onnx/encoder_model.onnx',
    'onnx/encoder_model.onnx_data',
    'onnx/encoder_model.onnx_data_1',
  ])
  t.deepEqual(chosen('fp32').slice(6), graphs('').slice(1), 'two decoder files come before a merged file')
  const merged = names(...JSONS, 'onnx/encoder_model.onnx', 'onnx/decoder_model_merged.onnx')
  t.deepEqual(chosen(null, merged), merged.map(({ path }) => path))
  t.deepEqual(chosen('int8', merged), ['no int8 export; available: fp32'])
  t.regex(chosen(null, names(...JSONS, 'onnx/model.onnx'))[0] ?? '', /no ONNX export for this engine/)
})

test('by default speech models get 32 bits on a GPU, and translators 8 bits on the CPU', (t) => {
  const precisionOn = (provider: 'cpu' | 'webgpu', ...paths: ReadonlyArray<string>): string => {
    const found = chooseFiles(names(...JSONS, ...paths), null, provider)
    return E.isLeft(found) ? found.left : found.right.precision
  }
  const [bothPrecisions, speech] = [[...graphs(''), ...graphs('_quantized')], 'preprocessor_config.json']
  t.deepEqual(
    (['cpu', 'webgpu'] as const).map((provider) => precisionOn(provider, speech, ...bothPrecisions)),
    ['int8', 'fp32'],
  )
  t.is(precisionOn('webgpu', speech, ...graphs('_quantized')), 'int8')
  t.is(precisionOn('webgpu', ...bothPrecisions), 'int8')
})
