import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Decoder } from 'io-ts'
import * as t from 'io-ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'

const decoded = { tokens: t.readonlyArray(t.number), gaps: t.readonlyArray(t.union([t.number, t.null])) }
const spoken = t.type({ id: t.string, ...decoded })
const translated = t.type(decoded)

/** Runs a Python script of this folder with JSON lines as input and returns its JSON lines. */
const linesOf = async <A>(
  codec: Decoder<unknown, A>,
  python: string,
  script: string,
  args: ReadonlyArray<string>,
  input: ReadonlyArray<unknown> = [],
): Promise<ReadonlyArray<A>> => {
  const child = spawn(python, [join(import.meta.dirname, script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  child.stdin.end(input.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const rows: A[] = []
  for await (const line of createInterface({ input: child.stdout })) rows.push(decodeOrThrow(codec, JSON.parse(line)))
  const [code] = await closed
  if (code !== 0) throw new Error(`${script} ended with exit code ${code}`)
  return rows
}

/** Returns one row for each utterance, in order. */
export const speechReference = async (options: {
  readonly python: string
  readonly folder: string
  readonly utterances: string
  readonly count: number
  readonly timestamps: boolean
  readonly language: string
}) => {
  const { python, folder, utterances, count, timestamps, language } = options
  const flags = ['--count', String(count), '--language', language, ...(timestamps ? ['--timestamps'] : [])]
  return linesOf(spoken, python, 'whisper_reference.py', [folder, utterances, ...flags])
}

/** Returns one row for each sentence, in order. */
export const translationReference = async (options: {
  readonly python: string
  readonly folder: string
  readonly sentences: ReadonlyArray<string>
}) => linesOf(
  translated,
  options.python,
  'marian_reference.py',
  [options.folder],
  options.sentences.map((text) => ({ text })),
)
