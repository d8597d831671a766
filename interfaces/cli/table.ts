/** Control and format characters. A name from outside could use them to change the output of the terminal. */
const UNSAFE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Formats rows under their headings, in aligned columns. Control characters appear as `?`. */
export const tableOf = (
  headings: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string | number>>,
): string => {
  const lines = [headings, ...rows].map((row) => row.map((cell) => String(cell).replace(UNSAFE, '?')))
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  const padded = lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)))
  return padded.map((line) => line.join('  ').trimEnd()).join('\n')
}
