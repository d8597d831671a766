import test from 'ava'
import { MUTANTS } from '../mutants/all.ts'
import { misfits } from '../mutants/misfits.ts'

test('every mutant changes a line that exists once, and names a test that exists', (t) => {
  t.deepEqual(misfits(MUTANTS), [])
})

test('a mutant whose file, line, test file or test is missing does not fit', (t) => {
  const fitting = { file: 'package.json', before: '"name": "stenolog"', after: '', rows: ['every mutant'], test: 'test/architecture/mutants.test.ts' }
  const others = [{ file: 'missing.ts' }, { before: 'no such line' }, { test: 'missing.test.ts' }, { rows: ['no such' + ' title'] }]
  t.deepEqual(misfits([fitting]), [])
  for (const other of others) t.is(misfits([{ ...fitting, ...other }]).length, 1, JSON.stringify(other))
})
