import type { Benchmark } from '../harness.ts'
import { appendComparisons } from './append.ts'
import { serviceComparisons } from './service.ts'
import { streamingComparisons } from './streaming.ts'

/** Comparisons of our checkout with another checkout. */
export const comparisons: ReadonlyArray<Benchmark> = [
  ...appendComparisons, ...serviceComparisons, ...streamingComparisons,
]
