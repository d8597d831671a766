/** A cell of a table: one line, and no bar that would end it. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ')

const line = (cells: ReadonlyArray<string>): string => `| ${cells.map(cell).join(' | ')} |`

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')

export const code = (text: string): string => `\`${text}\``

/** A page of parts with empty lines between them. */
export const page = (title: string, ...parts: ReadonlyArray<string>): string =>
  [
    `# ${title}`,
    '<!-- Made by `node tools/reference/make.ts` from the tables that the service runs on. Change those, not this page. -->',
    ...parts,
  ].join('\n\n') + '\n'
