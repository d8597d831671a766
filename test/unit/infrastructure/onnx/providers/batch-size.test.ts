import test from 'ava'
import { measureBatch } from '../../../../../infrastructure/onnx/providers/batch-size.ts'

/** Returns a function that measures a batch: the first run of each size takes a minute, later runs `timeOf` ms. */
const slowFirstRuns = (timeOf: (texts: number) => number) => {
  const seen = new Set<number>()
  return async (texts: number): Promise<number> => {
    const isFirst = !seen.has(texts)
    seen.add(texts)
    return isFirst ? 60_000 : timeOf(texts)
  }
}

test('texts are batched when a batch takes clearly less time than separate texts', async (t) => {
  t.is(await measureBatch(slowFirstRuns((texts) => 10 + texts), 8), 8)
  t.is(await measureBatch(slowFirstRuns((texts) => 10 * texts), 8), 1)
  t.is(await measureBatch(slowFirstRuns((texts) => 9 * texts), 8), 1, 'a saving of a tenth is too small')
})

test('texts run one by one when the model accepts only one text, or memory suffices for only one', async (t) => {
  t.is(await measureBatch(undefined, 8), 1)
  const full = async (texts: number): Promise<number> => {
    if (texts > 1) throw new Error('Allocation size too large')
    return 10
  }
  t.is(await measureBatch(full, 8), 1)
})
