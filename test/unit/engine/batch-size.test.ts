import test from 'ava'
import { measureBatch } from '../../../infrastructure/onnx/providers/batch-size.ts'

/** A provider on which the first run of so many texts takes long, and each later one what `timeOf` says. */
const rehearsing = (timeOf: (texts: number) => number) => {
  const seen = new Set<number>()
  return async (texts: number): Promise<number> => {
    const isFirst = !seen.has(texts)
    seen.add(texts)
    return isFirst ? 60_000 : timeOf(texts)
  }
}

test('texts are joined if a few together take clearly less time than separate ones', async (t) => {
  t.is(await measureBatch(rehearsing((texts) => 10 + texts), 8), 8)
  t.is(await measureBatch(rehearsing((texts) => 10 * texts), 8), 1)
  t.is(await measureBatch(rehearsing((texts) => 9 * texts), 8), 1, 'a tenth is none')
})

test('texts run separately if the model takes only one, or the memory suffices for only one', async (t) => {
  t.is(await measureBatch(undefined, 8), 1)
  const full = async (texts: number): Promise<number> => {
    if (texts > 1) throw new Error('Allocation size too large')
    return 10
  }
  t.is(await measureBatch(full, 8), 1)
})
