import type { RowName } from '../../support/running/rows.ts'

/** One line of the product, or of a double, broken as a careless change would break it, and the test that must notice. */
export interface Mutant {
  readonly file: string
  /** Stands exactly once in the file. */
  readonly before: string
  readonly after: string
  /** A test whose title names one of these must fail, in the file `test`: rows by their numbers, words as they stand there. */
  readonly rows: ReadonlyArray<RowName>
  readonly test: string
}
