/**
 * A deliberate error in a line of the product, and the test that must fail because of it. It is found by search, so it
 * needs no change when code moves to another file, or when a file is renamed.
 */
export interface Mutant {
  /** The name of the function or constant with the line. */
  readonly in: string
  /** A part of the path, for a name that several files have with the same line. */
  readonly file?: string
  /** Must occur exactly once in the function. */
  readonly before: string
  readonly after: string
  /** The end of the path of the test file: its name, with folders where several files have it. */
  readonly test: string
  /** Parts of titles. One of these tests of the file must fail. */
  readonly titles: ReadonlyArray<string>
}
