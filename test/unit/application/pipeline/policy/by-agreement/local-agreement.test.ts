import { readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import {
  commit, newWordsOf, NO_AGREEMENT, trim, type Agreement,
} from '../../../../../../application/pipeline/policy/by-agreement/local-agreement.ts'
import { testWith } from '../../../../../support/running/skip-unless.ts'

/** A hypothesis and the words that HypothesisBuffer of whisper_streaming committed after it. */
interface Step {
  readonly offset: number
  readonly hypothesis: ReadonlyArray<readonly [number, number, string]>
  readonly committed: ReadonlyArray<readonly [number, number, string]>
  readonly pending: ReadonlyArray<string>
  readonly trimmed_at?: number
}

const read = (file: URL | string): ReadonlyArray<{ readonly steps: ReadonlyArray<Step> }> =>
  JSON.parse(readFileSync(file, 'utf8')) as ReadonlyArray<{ readonly steps: ReadonlyArray<Step> }>

const compareWithReference = (t: ExecutionContext, sequences: ReturnType<typeof read>): void => {
  for (const [number, { steps }] of sequences.entries()) {
    let state: Agreement = NO_AGREEMENT
    for (const [index, step] of steps.entries()) {
      const place = `sequence ${number}, step ${index}`
      const hypothesis = step.hypothesis.map(([start, end, text]) => ({
        start: start + step.offset,
        end: end + step.offset,
        text,
      }))
      const result = commit(state, newWordsOf(state, hypothesis))
      t.deepEqual(result.committed.map((word) => word.text), step.committed.map((word) => word[2]), place)
      result.committed.forEach((word, i) => {
        t.true(Math.abs(word.start - (step.committed[i]?.[0] ?? Number.NaN)) <= 0.01, place)
        t.true(Math.abs(word.end - (step.committed[i]?.[1] ?? Number.NaN)) <= 0.01, place)
      })
      t.deepEqual(result.state.pending.map((word) => word.text), step.pending, place)
      state = step.trimmed_at === undefined ? result.state : trim(result.state, step.trimmed_at)
    }
  }
}

test('LocalAgreement commits the words of the reference implementation, on a sample of its recordings', (t) => {
  compareWithReference(t, read(new URL('./local-agreement.sample.json', import.meta.url)))
})

const ALL = '../shared/research/la2/sequences.json'
testWith(ALL)('LocalAgreement commits the words of the reference implementation, on all 200 recordings', (t) => {
  compareWithReference(t, read(ALL))
})
