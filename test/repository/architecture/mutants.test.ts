import test from 'ava'
import { MUTANTS } from '../../nightly/mutants/all.ts'
import { misfits } from '../../nightly/mutants/misfits.ts'

test('every mutant changes a line that exists once, and names a test that exists', (t) => {
  t.deepEqual(misfits(MUTANTS), [])
})

const TABLE = 'test/unit/cli/table.test.ts'
/** The titles of its tests have placeholders. */
const GPU_FAILURES = 'test/nightly/gpu/gpu-failures.test.ts'
const FITTING = { file: TABLE, before: "test('columns", after: '', rows: ['columns are as wide'], test: TABLE }

test('a mutant with an unknown file, line, identifier, test file or title does not fit', (t) => {
  const faults = [
    { file: 'missing.ts' },
    { before: 'no such line' },
    { after: 'missingName(columns)' },
    { test: 'missing.test.ts' },
    { rows: ['no such title'] },
    { rows: ['columns are as wide', 'no such title'] },
    { rows: ['is lost if a GPU has'], test: GPU_FAILURES },
  ]
  t.deepEqual(misfits([FITTING, { ...FITTING, rows: ['is lost when a GPU has'], test: GPU_FAILURES }]), [])
  for (const fault of faults) t.is(misfits([{ ...FITTING, ...fault }]).length, 1, JSON.stringify(fault))
})
