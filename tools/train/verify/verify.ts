import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { SAMPLE_RATE } from '../../../application/ports/engine.ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { readMarianDirectory } from '../../../infrastructure/onnx/marian-model.ts'
import { loadMarian } from '../../../infrastructure/onnx/marian-runner.ts'
import { readWhisperDirectory } from '../../../infrastructure/onnx/whisper/whisper-directory.ts'
import { loadWhisper } from '../../../infrastructure/onnx/whisper/whisper-runner.ts'
import { referenceLimit } from '../../../infrastructure/onnx/whisper/token-limits.ts'
import { compareTokens, report, type Comparison } from './compare.ts'
import { speechReference, translationReference } from './reference.ts'
import { readUtterances } from './utterances.ts'

const HELP = `Compares our model runners with independent Python loops, token by token.

Usage
  node tools/train/verify/verify.ts speech MODEL UTTERANCES [--language en]
  node tools/train/verify/verify.ts translation MODEL SENTENCES --from en --to es

Arguments
  UTTERANCES  a folder of FLAC or WAV files, or PREFIX.jsonl with PREFIX.raw;
              compared with and without timestamps
  SENTENCES   JSON lines with the member "text"

Options
  --count 200       maximum number of utterances or sentences
  --python python3  a Python with numpy and onnxruntime, soundfile for a folder,
                    tokenizers for translations

Exit code 1: the results differ. Close differences are allowed in 1 % of the
cases. A difference is close if the reference prefers its token by less than
0.01.`

interface Options {
  readonly folder: string
  readonly inputs: string
  readonly count: number
  readonly python: string
  readonly language: string
  readonly from: string
  readonly to: string
}

const succeed = <A>(result: E.Either<string, A>): A => {
  if (E.isLeft(result)) throw new Error(result.left)
  return result.right
}

const verifySpeech = async (
  { folder, inputs, count, python, language }: Options,
  timestamps: boolean,
): Promise<boolean> => {
  const model = succeed(await readWhisperDirectory(folder))
  const runner = await loadWhisper({ ...model, timestamps }, referenceLimit)
  const utterances = await readUtterances(inputs, count)
  const theirs = await speechReference({ python, folder, utterances: inputs, count, timestamps, language })
  if (theirs.length !== utterances.length)
    throw new Error(`the reference returned ${theirs.length} results for ${utterances.length} utterances`)
  const compared: Array<readonly [string, Comparison]> = []
  for (const [index, { id, samples }] of utterances.entries()) {
    const { tokens } = await runner.decode(
      { samples: samples.subarray(0, runner.windowSeconds * SAMPLE_RATE), language },
    )
    const reference = theirs[index]
    if (reference?.id !== id) throw new Error(`the reference returned utterance ${reference?.id}, expected ${id}`)
    compared.push([id, compareTokens(tokens, reference)])
  }
  return report(`speech ${timestamps ? 'with' : 'without'} timestamps`, compared)
}

const sentenceRow = t.type({ text: t.string })

const verifyTranslation = async ({ folder, inputs, count, python, from, to }: Options): Promise<boolean> => {
  const runner = await loadMarian(succeed(await readMarianDirectory(folder)))
  const lines = (await readFile(inputs, 'utf8')).split('\n').filter((line) => line !== '').slice(0, count)
  const texts = lines.map((line) => decodeOrThrow(sentenceRow, JSON.parse(line)).text)
  const translations = []
  for (const text of texts) translations.push(await runner.translate(text, from, to))
  // The runner splits its input into sentences and copies sentences without letters. The reference does neither.
  const pieces = translations.flatMap(
    ({ pieces }) => pieces.filter(({ tokens, text }) => tokens.length > 0 || text === ''),
  )
  const theirs = await translationReference({ python, folder, sentences: pieces.map(({ source }) => source) })
  if (theirs.length !== pieces.length)
    throw new Error(`the reference returned ${theirs.length} results for ${pieces.length} sentences`)
  const compared = pieces.flatMap(({ source, tokens }, index) => {
    const reference = theirs[index]
    return reference === undefined ? [] : [[source, compareTokens(tokens, reference)] as const]
  })
  return report(`translation ${from} → ${to}`, compared)
}

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: 'string', default: '200' },
      python: { type: 'string', default: 'python3' },
      language: { type: 'string', default: 'en' },
      from: { type: 'string', default: 'en' },
      to: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  })
  const [kind, folder, inputs] = positionals
  const count = Number(values.count)
  const hasKind = kind === 'speech' || (kind === 'translation' && values.to !== '')
  const isUsable = Number.isInteger(count) && count > 0 && hasKind
  if (values.help || folder === undefined || inputs === undefined || !isUsable) {
    console.log(HELP)
    return values.help ? 0 : 2
  }
  const options: Options = { ...values, folder, inputs, count }
  if (kind === 'translation') return (await verifyTranslation(options)) ? 0 : 1
  const outcomes = [await verifySpeech(options, false), await verifySpeech(options, true)]
  return outcomes.every(Boolean) ? 0 : 1
}

process.exitCode = await main()
