/** One line of the product broken as a careless change would break it, and the test that must notice. */
export interface Mutant {
  readonly file: string
  /** Stands exactly once in the file. */
  readonly before: string
  readonly after: string
  /** A test whose title names one of these must fail, in this file. */
  readonly rows: ReadonlyArray<number>
  readonly test: string
}
