const MOST_COLUMNS = 120

interface Context {
  readonly sourceCode: { readonly lines: ReadonlyArray<string> }
  readonly report: (problem: { readonly message: string; readonly loc: object }) => void
}

/** An oxlint plugin with one rule, because oxlint itself has no rule for the width of lines. */
export default {
  meta: { name: 'stenolog' },
  rules: {
    'line-width': {
      create: (context: Context) => ({
        Program: () => {
          for (const [index, line] of context.sourceCode.lines.entries()) {
            if (line.length <= MOST_COLUMNS) continue
            const at = (column: number) => ({ line: index + 1, column })
            const message = `This line has ${line.length} columns. At most ${MOST_COLUMNS} are allowed.`
            context.report({ message, loc: { start: at(MOST_COLUMNS), end: at(line.length) } })
          }
        },
      }),
    },
  },
}
