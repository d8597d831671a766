const WIDTH = 30

/** Shows the progress of a long step. On a terminal one line updates in place. Elsewhere each 10 % adds a line. */
export interface ProgressBar {
  /** `share` is from 0 to 1, or null when it is unknown. */
  readonly show: (share: number | null, detail: string) => void
  readonly end: () => void
}

const barOf = (share: number): string => {
  const full = Math.round(share * WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${String(Math.floor(share * 100)).padStart(3)} %`
}

export const createProgressBar = (stream: NodeJS.WriteStream, label: string): ProgressBar => {
  let tenth = -1
  let isLineOpen = false
  return {
    show: (share, detail) => {
      const line = `${label.padEnd(12)} ${share === null ? '' : `${barOf(share)}  `}${detail}`
      if (stream.isTTY) {
        stream.write(`\r\u001b[K${line}`)
        isLineOpen = true
        return
      }
      const reached = share === null ? 0 : Math.floor(share * 10)
      if (reached > tenth) stream.write(`${line}\n`)
      tenth = Math.max(tenth, reached)
    },
    end: () => {
      if (isLineOpen) stream.write('\n')
      isLineOpen = false
    },
  }
}
