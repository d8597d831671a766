const WIDTH = 30

/** How far a long step is: one line that is written over on a terminal, else a line for each tenth. */
export interface ProgressBar {
  /** `share` from 0 to 1, null where it is not known. */
  readonly show: (share: number | null, detail: string) => void
  readonly end: () => void
}

const drawn = (share: number): string => {
  const full = Math.round(share * WIDTH)
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${String(Math.floor(share * 100)).padStart(3)} %`
}

export const createProgressBar = (stream: NodeJS.WriteStream, label: string): ProgressBar => {
  let tenth = -1
  let open = false
  return {
    show: (share, detail) => {
      const line = `${label.padEnd(12)} ${share === null ? '' : `${drawn(share)}  `}${detail}`
      if (stream.isTTY) {
        stream.write(`\r\u001b[K${line}`)
        open = true
        return
      }
      const reached = share === null ? 0 : Math.floor(share * 10)
      if (reached > tenth) stream.write(`${line}\n`)
      tenth = Math.max(tenth, reached)
    },
    end: () => {
      if (open) stream.write('\n')
      open = false
    },
  }
}
