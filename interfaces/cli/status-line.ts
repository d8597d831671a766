/** What a command that takes long does now. */
export interface StatusLine {
  /** `detail`: how far it is. */
  readonly show: (step: string, detail?: string) => void
  /** Takes the line away, so that something else can be printed. */
  readonly clear: () => void
}

type Terminal = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

/** Milliseconds between two details of the same step. */
const EVERY = 100

/** One line that is written over, on a terminal; nothing elsewhere. */
export const createStatusLine = (stream: Terminal = process.stderr, now: () => number = Date.now): StatusLine => {
  let isShown = false
  let last = { step: '', at: 0 }
  return {
    show: (step, detail = '') => {
      if (!stream.isTTY || (step === last.step && now() - last.at < EVERY)) return
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

/** Shows what runs for as long as it does. */
export const withStatus = async <A>(run: (status: StatusLine) => Promise<A>): Promise<A> => {
  const status = createStatusLine()
  try {
    return await run(status)
  } finally {
    status.clear()
  }
}
