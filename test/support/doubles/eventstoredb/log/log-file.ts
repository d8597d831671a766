import { closeSync, existsSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

const HEADER = 'EventStoreDB double, format 1\n'

/** One atomic write as a line of the file. Bytes are base64. */
interface Line {
  readonly stream: string
  /** A decimal number. */
  readonly revision: string
  readonly at: number
  readonly events: ReadonlyArray<{
    readonly id: string
    readonly type: string
    readonly isJson: boolean
    readonly data: string
    readonly metadata: string
  }>
}

export interface ProposedEvent {
  readonly id: string
  readonly type: string
  readonly isJson: boolean
  readonly data: Uint8Array
  readonly metadata: Uint8Array
}

/** Events that are written together to one stream. */
export interface Write {
  readonly stream: string
  /** The revision of the first event. */
  readonly revision: bigint
  /** Milliseconds since 1970. */
  readonly at: number
  readonly events: ReadonlyArray<ProposedEvent>
}

/** A write and its place in the log. Positions are offsets in the file, like those of the real server in its chunks. */
export interface WriteInLog extends Write {
  readonly begin: number
  readonly end: number
}

export interface LogFile {
  /** The writes of earlier processes. */
  readonly earlier: ReadonlyArray<WriteInLog>
  /** Appends a write. It survives a kill of this process. */
  readonly add: (write: Write) => WriteInLog
  readonly close: () => void
}

const parse = (text: string): Write => {
  const { stream, revision, at, events } = JSON.parse(text) as Line
  return {
    stream,
    revision: BigInt(revision),
    at,
    events: events.map((event) => ({
      ...event,
      data: Buffer.from(event.data, 'base64'),
      metadata: Buffer.from(event.metadata, 'base64'),
    })),
  }
}

const format = ({ stream, revision, at, events }: Write): Buffer => {
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
  const line: Line = {
    stream,
    revision: String(revision),
    at,
    events: events.map((event) => ({ ...event, data: base64(event.data), metadata: base64(event.metadata) })),
  }
  return Buffer.from(`${JSON.stringify(line)}\n`)
}

/** Opens the data file, which has one line per write. An incomplete last line was never acknowledged and is removed. */
export const openLogFile = (path: string): LogFile => {
  const content = existsSync(path) ? readFileSync(path) : Buffer.from(HEADER)
  const earlier: WriteInLog[] = []
  let end = HEADER.length
  for (let next = content.indexOf(10, end); next >= 0; next = content.indexOf(10, end)) {
    earlier.push({ ...parse(content.toString('utf8', end, next)), begin: end, end: next + 1 })
    end = next + 1
  }
  const file = openSync(path, existsSync(path) ? 'r+' : 'w+')
  if (fstatSync(file).size < HEADER.length) writeSync(file, HEADER, 0)
  ftruncateSync(file, end)
  return {
    earlier,
    add: (write) => {
      const bytes = format(write)
      const begin = end
      writeSync(file, bytes, 0, bytes.length, begin)
      end = begin + bytes.length
      return { ...write, begin, end }
    },
    close: () => closeSync(file),
  }
}
