import type { RowName } from '../../support/running/rows.ts'

/** A deliberate error in a line of the product or of a double, and the test that must fail because of it. */
export interface Mutant {
  readonly file: string
  /** Must occur exactly once in the file. */
  readonly before: string
  readonly after: string
  /** One of these tests in the file `test` must fail. Numbers are rule numbers (R…), strings are parts of titles. */
  readonly rows: ReadonlyArray<RowName>
  readonly test: string
}
