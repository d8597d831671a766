import test from 'ava'
import { MUTANTS } from '../../nightly/mutants/all.ts'
import { readProduct } from '../../nightly/mutants/locate.ts'
import { misfits } from '../../nightly/mutants/misfits.ts'

const MAX_MUTANTS = 150

test('every mutant changes one line of a function, and names a test that exists; there are at most 150', (t) => {
  t.deepEqual(misfits(MUTANTS), [])
  t.true(MUTANTS.length <= MAX_MUTANTS, 'a mutant by hand is for durability, fencing or security (decision 99)')
})

const FITTING = {
  in: 'outcomeOfAppend',
  before: 'expected === stream.last',
  after: '',
  test: 'cli/table.test.ts',
  titles: ['columns are as'],
}

test('a mutant needs no change when its function moves, or when its file or other lines change', (t) => {
  const product = readProduct()
  t.deepEqual(misfits([FITTING], product), [])
  const [path = '', source = ''] = [...product].find(([, text]) => text.includes('const outcomeOfAppend =')) ?? []
  const others = [...product].filter(([other]) => other !== path)
  const moved = new Map([...others, ['domain/elsewhere.ts', `// expected === stream.last\n${source}`]])
  t.deepEqual(misfits([FITTING], moved), [])
  const renamed = new Map([...others, [path, source.replaceAll('outcomeOfAppend', 'appendOutcome')]])
  t.deepEqual(misfits([FITTING], renamed), ['no function is called outcomeOfAppend. Did you mean appendOutcome?'])
})

test('a mutant with an unknown function, line, identifier, test file or title does not fit', (t) => {
  const product = readProduct()
  const faults = [
    { in: 'outcomeOfAppends', before: 'no such line' },
    { file: 'eventstoredb' },
    { before: 'no such line' },
    { after: 'missingName(stream)' },
    { test: 'missing.test.ts' },
    { titles: ['no such title'] },
    { titles: ['columns are as', 'no such title'] },
  ]
  for (const fault of faults) t.is(misfits([{ ...FITTING, ...fault }], product).length, 1, JSON.stringify(fault))
})
