/** Shows the current step of a long command. */
export interface StatusLine {
  /** `detail` describes the progress within the step. */
  readonly show: (step: string, detail?: string) => void
  /** Removes the line, so other output can follow. */
  readonly clear: () => void
}

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

/** Minimum time between two updates of the same step. */
const UPDATE_INTERVAL_MS = 100

/** Creates a line that updates in place on a terminal. Elsewhere it prints nothing. */
export const createStatusLine = (
  stream: Terminal = process.stderr,
  now: () => number = Date.now,
): StatusLine => {
  let isShown = false
  let last = { step: '', at: 0 }
  return {
    show: (step, detail = '') => {
      if (!stream.isTTY || (step === last.step && now() - last.at < UPDATE_INTERVAL_MS)) return
      last = { step, at: now() }
      isShown = true
      stream.write(`\r\u001b[K${`${step}  ${detail}`.trimEnd().slice(0, (stream.columns || 80) - 1)}`)
    },
    clear: () => {
      if (isShown) stream.write('\r\u001b[K')
      isShown = false
      last = { step: '', at: 0 }
    },
  }
}

/** Calls `run` with a status line and removes the line at the end. */
export const withStatus = async <A>(run: (status: StatusLine) => Promise<A>): Promise<A> => {
  const status = createStatusLine()
  try {
    return await run(status)
  } finally {
    status.clear()
  }
}
