import type { Mutant } from './mutant.ts'

const STREAMING_POLICY = 'test/unit/pipeline/streaming-policy.test.ts'
const LOG_DUTY = 'test/unit/application/log/log-duty.test.ts'
const ERASURE_RULES = 'test/unit/application/audit/erasure-rules.test.ts'
const KEYRING_CACHE = 'test/contract/sqlite/keyring-cache.test.ts'

/** Mutants that no test noticed at first. */
export const formerSurvivorMutants: ReadonlyArray<Mutant> = [
  {
    file: 'application/pipeline/policy/by-agreement/streaming-policy.ts',
    before: 'to - limits.maxDelay',
    after: 'to - 2 * limits.maxDelay',
    rows: ['a word older than max_delay is fixed without a second pass, a younger word is not'], test: STREAMING_POLICY,
  },
  {
    file: 'application/pipeline/policy/by-agreement/streaming-policy.ts',
    before: 'settled: startingBefore(state.shown, state.transcribedEnd) }',
    after: 'settled: state.shown }',
    rows: ['text after the cut of a full buffer is transcribed again before it is final'],
    test: 'test/simulation/pipeline/live-pipeline.property.test.ts',
  },
  {
    file: 'application/pipeline/policy/by-agreement/policy-state.ts',
    before: 'committed.length - inside - 1',
    after: 'committed.length - inside',
    rows: ['after a cut in a pause, a word dated before the pause is recognised when transcribed again'],
    test: 'test/simulation/pipeline/live-pipeline.property.test.ts',
  },
  {
    file: 'application/pipeline/policy/by-agreement/streaming-policy.ts',
    before: '(next?.start ?? 0) - limits.buffer.preRoll',
    after: 'next?.start ?? 0',
    rows: ['an empty buffer begins 0.15 s before speech'], test: STREAMING_POLICY,
  },
  {
    file: 'application/log/log-duty.ts',
    before: 'retryDelay(RETRY, attempt, random())',
    after: 'retryDelay(RETRY, 0, random())',
    rows: ['a failing duty is retried with growing pauses of at most half a minute'], test: LOG_DUTY,
  },
  {
    file: 'application/log/log-duty.ts',
    before: 'await perform(queue, next)\n        attempt = 0',
    after: 'await perform(queue, next)',
    rows: ['a duty that makes progress resets its pause and does nothing twice'], test: LOG_DUTY,
  },
  {
    file: 'application/audit/erasure-rules.ts',
    before: 'at !== undefined && at <= until',
    after: 'at !== undefined && at < until',
    rows: ['data deleted up to the requested moment must be gone, later deletions need not be complete'],
    test: ERASURE_RULES,
  },
  {
    file: 'application/audit/erasure-rules.ts',
    before: 'boolean => at <= until',
    after: 'boolean => at < until',
    rows: ['data deleted up to the requested moment must be gone, later deletions need not be complete'],
    test: ERASURE_RULES,
  },
  {
    file: 'application/lru-cache.ts',
    before: 'entries.size > maxEntries &&',
    after: 'entries.size < 0 &&',
    rows: ['the ten thousand keys used last stay in memory; others are read from storage'], test: KEYRING_CACHE,
  },
  {
    file: 'application/log/log-duty.ts',
    before: 'unsaved >= SAVED_EVERY.events || ',
    after: '',
    rows: ['irrelevant events advance the checkpoint every 500 events or 5 s'], test: LOG_DUTY,
  },
]
