import { styleText } from 'node:util'
import type { DestinationStream } from 'pino'

type Fields = Readonly<Record<string, unknown>>

const INFO = 30
const LEVELS: Readonly<Record<number, string>> = { 10: 'trace', 20: 'debug', [INFO]: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }

/** Text of others may hold what moves a cursor or starts a line. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?')

const shown = (value: unknown): string => (typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value))

const levelOf = (level: unknown): string => {
  const name = LEVELS[Number(level)] ?? String(level)
  const style = Number(level) >= 50 ? 'red' : Number(level) >= 40 ? 'yellow' : 'dim'
  return styleText(style, name.padEnd(5), { stream: process.stderr })
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** Milliseconds after which a person would want to know which request it was. */
const SLOW = 2000

/** A request that was served as it should be says nothing to a person, and pushes away what does. */
const isRoutine = ({ level, msg, status, ms }: Fields): boolean =>
  msg === 'request' && level === INFO && Number(status) < 500 && Number(ms) < SLOW

/** One line of the log for people: when, how important, what, and its members; the stack of an error below it. */
const readableLine = ({ time, level, msg, err, ...others }: Fields): string => {
  const clock = new Date(String(time)).toTimeString().slice(0, 8)
  const error = isFields(err) ? err : {}
  const members = Object.entries(others).map(([name, value]) => `${name}=${shown(value)}`)
  const problem = typeof error['message'] === 'string' ? [`(${error['message']})`] : []
  const stack = typeof error['stack'] === 'string' ? error['stack'].split('\n').slice(1) : []
  const first = `${clock} ${levelOf(level)} ${plain([String(msg), ...problem, ...members].join('  '))}`
  return [first, ...stack.map(plain)].map((text) => `${text}\n`).join('')
}

/** Writes the log's JSON lines to `to` as a person reads them; without `everything` those on routine requests are left out. */
export const readableLog = (to: DestinationStream, everything: boolean): DestinationStream => ({
  write: (line) => {
    const fields = JSON.parse(line) as Fields
    if (everything || !isRoutine(fields)) to.write(readableLine(fields))
  },
})
