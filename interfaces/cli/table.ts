/** Rows under their headings, in columns as wide as their widest cell. Control characters of foreign text are shown as `?`. */
export const tableOf = (headings: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>): string => {
  const lines = [headings, ...rows].map((row) => row.map((cell) => String(cell).replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')))
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => (line[column] ?? '').length)))
  return lines.map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()).join('\n')
}
