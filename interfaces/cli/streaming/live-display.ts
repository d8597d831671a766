import type { ReceivedFrame } from './live-stream.ts'

const clock = (seconds: number): string => seconds.toFixed(1).padStart(6)

/** Prints the text of a session. On a terminal the draft line updates in place. Elsewhere only final text appears. */
export const createLiveDisplay = (out: NodeJS.WriteStream): ((frame: ReceivedFrame) => void) => {
  const width = out.columns > 20 ? out.columns - 1 : 100
  return (frame) => {
    const text = frame.text.replaceAll('\n', ' ')
    const mark = frame.type === 'translation' ? `  ${frame.language}: ` : ''
    const line = `${clock(frame.receivedAt)} s  ${mark}${text}`
    if (out.isTTY) out.write(`\r\u001b[K${frame.final ? line : line.slice(-width)}${frame.final ? '\n' : ''}`)
    else if (frame.final) out.write(`${line}\n`)
  }
}
