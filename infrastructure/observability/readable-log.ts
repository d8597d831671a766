import { styleText } from 'node:util'
import type { DestinationStream } from 'pino'

type Fields = Readonly<Record<string, unknown>>

const INFO = 30
const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace', 20: 'debug', [INFO]: 'info', 40: 'warn', 50: 'error', 60: 'fatal',
}

/** Replaces control characters: foreign text could move the cursor or start a new line. */
const withoutControls = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')

const shown = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)

const levelOf = (level: unknown): string => {
  const name = LEVELS[Number(level)] ?? String(level)
  const style = Number(level) >= 50 ? 'red' : Number(level) >= 40 ? 'yellow' : 'dim'
  return styleText(style, name.padEnd(5), { stream: process.stderr })
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Slower requests are always shown. */
const SLOW_REQUEST_MS = 2000

/** A fast and successful request, which would hide more important lines. */
const isRoutine = ({ level, msg, status, ms }: Fields): boolean =>
  msg === 'request' && level === INFO && Number(status) < 500 && Number(ms) < SLOW_REQUEST_MS

/** Formats an entry as time, level, message and members, followed by the stack of an error. */
const readableLine = ({ time, level, msg, err, ...others }: Fields): string => {
  const clock = new Date(String(time)).toTimeString().slice(0, 8)
  const error = isFields(err) ? err : {}
  const members = Object.entries(others).map(([name, value]) => `${name}=${shown(value)}`)
  const problem = typeof error['message'] === 'string' ? [`(${error['message']})`] : []
  const stack = typeof error['stack'] === 'string' ? error['stack'].split('\n').slice(1) : []
  const first = `${clock} ${levelOf(level)} ${withoutControls([String(msg), ...problem, ...members].join('  '))}`
  return [first, ...stack.map(withoutControls)].map((text) => `${text}\n`).join('')
}

/** Converts JSON log lines to readable lines. Skips routine requests unless `showsRoutine` is set. */
export const readableLog = (to: DestinationStream, showsRoutine: boolean): DestinationStream => ({
  write: (line) => {
    const fields = JSON.parse(line) as Fields
    if (showsRoutine || !isRoutine(fields)) to.write(readableLine(fields))
  },
})
