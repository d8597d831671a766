import { readFileSync } from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { applyRules, chooseToken, probabilityOf, type LogitsRules } from '../../../../infrastructure/onnx/logits.ts'

// The vocabulary: text tokens 0–5, end of text 6, no-timestamps 7 and timestamps 8–15.
const END = 6
const TIME = 8
const RULES: LogitsRules = {
  suppressed: [1],
  suppressedAtBegin: [2, END],
  endOfText: END,
  timestamps: { noTimestamps: 7, begin: TIME, maxInitialIndex: 3 },
}

/** Returns the tokens that the rules allow when text tokens are much likelier than timestamps. */
const allowed = (generated: ReadonlyArray<number>, rules: LogitsRules = RULES): ReadonlyArray<number> => {
  const logits = Float32Array.from({ length: 16 }, (_, token) => (token < TIME ? 20 : 0))
  applyRules(logits, generated, rules)
  return [...logits.keys()].filter((token) => logits[token] !== -Infinity)
}

test('without timestamps only the suppress lists count, and the second list only at the beginning', (t) => {
  const rules = { ...RULES, timestamps: null }
  t.deepEqual(allowed([], rules), [0, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  t.deepEqual(allowed([0], rules), [0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
})

test('the first token is a timestamp of at most the highest initial index', (t) => {
  t.deepEqual(allowed([]), [8, 9, 10, 11])
  const { timestamps } = RULES
  t.deepEqual(
    allowed([], { ...RULES, timestamps: timestamps && { ...timestamps, maxInitialIndex: null } }),
    [8, 9, 10, 11, 12, 13, 14, 15],
  )
})

test('text or the end follows the first timestamp', (t) => {
  t.deepEqual(allowed([9]), [0, 2, 3, 4, 5, END])
})

test('after text and a timestamp comes an equal or later timestamp, or the end', (t) => {
  t.deepEqual(allowed([9, 0, 12]), [END, 12, 13, 14, 15])
})

test('text follows a pair of timestamps', (t) => {
  t.deepEqual(allowed([9, 0, 12, 12]), [0, 2, 3, 4, 5, END])
})

test('a segment is not empty, and the no-timestamps token is forbidden', (t) => {
  t.deepEqual(allowed([9, 0]), [0, 2, 3, 4, 5, END, 10, 11, 12, 13, 14, 15])
  t.deepEqual(allowed([9, 0, 12, 13, 0]), [0, 2, 3, 4, 5, END, 14, 15])
})

test('only timestamps are allowed when together they are likelier than every text token', (t) => {
  const logits = Float32Array.from({ length: 16 }, (_, token) => (token < TIME ? 0 : -1))
  applyRules(logits, [8, 0], RULES)
  t.deepEqual([...logits.keys()].filter((token) => logits[token] !== -Infinity), [9, 10, 11, 12, 13, 14, 15])
  // e^0 against 7 · e^-3: all timestamps together are less likely than one text token.
  const quieter = Float32Array.from({ length: 16 }, (_, token) => (token < TIME ? 0 : -3))
  applyRules(quieter, [8, 0], RULES)
  t.is(chooseToken(quieter).token, 0)
})

test('the likeliest token is chosen with its log probability; of equally likely tokens, the first', (t) => {
  const logits = Float32Array.of(0, 1, -Infinity, 1)
  const { token, logprob } = chooseToken(logits)
  t.is(token, 1)
  t.true(Math.abs(logprob - Math.log(Math.E / (1 + 2 * Math.E))) < 1e-6)
  t.true(Math.abs(probabilityOf(logits, 0) - 1 / (1 + 2 * Math.E)) < 1e-6)
  t.is(probabilityOf(logits, 2), 0)
})

test('log probabilities equal plain arithmetic for all ranges of logits', (t) => {
  const logit = fc.oneof(fc.float({ min: -60, max: 60, noNaN: true }), fc.constant(-Infinity))
  fc.assert(
    fc.property(fc.array(logit, { minLength: 1, maxLength: 300 }), (values) => {
      const logits = Float32Array.from(values)
      const highest = logits.reduce((most, value) => Math.max(most, value))
      fc.pre(highest > -Infinity)
      const sum = logits.reduce((total, value) => total + Math.exp(value - highest), 0)
      const { token, logprob } = chooseToken(logits)
      return token === logits.indexOf(highest) && Math.abs(logprob + Math.log(sum)) < 1e-8
    }),
  )
  t.deepEqual(chooseToken(Float32Array.of(-Infinity, -Infinity)), { token: 0, logprob: Number.NaN })
})

interface Reference {
  readonly rules: LogitsRules
  readonly cases: ReadonlyArray<{
    readonly generated: ReadonlyArray<number>
    readonly logits: ReadonlyArray<number>
    readonly allowed: ReadonlyArray<number>
    readonly token: number
  }>
}

test('after random texts, the allowed tokens and the chosen token equal the reference', (t) => {
  const { rules, cases } = JSON.parse(readFileSync('test/support/fixtures/engine/logits.json', 'utf8')) as Reference
  for (const { generated, logits, allowed: expected, token } of cases) {
    const ours = Float32Array.from(logits)
    applyRules(ours, generated, rules)
    t.deepEqual([...ours.keys()].filter((index) => ours[index] !== -Infinity), expected, `after ${generated.join(' ')}`)
    t.is(chooseToken(ours).token, token)
  }
})
