import { randomUUID } from 'node:crypto'
import { openLogFile, type ProposedEvent, type Write, type WriteInLog } from './log-file.ts'

/** The value of `$tb` of a deleted stream. */
export const DELETED = 9223372036854775807n

/** The number of remembered event ids. They are forgotten when the process ends. */
const REMEMBERED_IDS = 50_000

export interface LogRecord extends ProposedEvent {
  readonly stream: string
  readonly revision: bigint
  /** Milliseconds since 1970. */
  readonly at: number
  /** The commit position and the prepare position. */
  readonly position: number
  /** The position of the next record. */
  readonly next: number
}

export interface StreamLimits {
  readonly maxCount: number | null
  readonly maxAgeMs: number | null
  /** First revision that is read. */
  readonly truncateBefore: bigint
}

/** The log of a node. */
export interface LogView {
  /** The records in the order of their positions. A scavenge removes some. */
  readonly records: ReadonlyArray<LogRecord>
  /** The position after the last record. */
  readonly end: () => number
  /** The end of the scavenged part. Before it a position without a record stands for the next record. */
  readonly scavengedTo: () => number
  /** The index of the first record at or after a position. */
  readonly indexAt: (position: number) => number
  /** The last revision of a stream; -1n: unknown stream. */
  readonly last: (stream: string) => bigint
  readonly recordAt: (stream: string, revision: bigint) => LogRecord | undefined
  /** The record of a recently written event id. */
  readonly remembered: (id: string) => Pick<LogRecord, 'stream' | 'revision'> | undefined
  readonly isDeleted: (stream: string) => boolean
  readonly metadata: (stream: string) => string
  /** The records of a stream that a read returns. */
  readonly visible: (stream: string) => ReadonlyArray<LogRecord>
  readonly onWrite: (listener: () => void) => () => void
}

export interface EventLog extends LogView {
  /** Returns the position of the last event. */
  readonly write: (stream: string, revision: bigint, events: ReadonlyArray<ProposedEvent>) => number
}

/** A copy of a log in memory. */
export interface Replica extends LogView {
  /** Adds a write and returns the position of its last event. `isRecent`: its ids are remembered. */
  readonly add: (write: WriteInLog, isRecent: boolean) => number
}

/** An event that the server writes on its own. */
export const systemEvent = (type: string, data: string): ProposedEvent => ({
  id: randomUUID(), type, isJson: true, data: Buffer.from(data), metadata: Buffer.alloc(0),
})

/** The metadata of the streams of scavenges: readers and lifetime. */
export const SCAVENGES_METADATA = '{"$maxAge":2592000,"$acl":{"$r":"$ops","$w":[],"$d":[],"$mr":[],"$mw":[]}}'

/** The first write of a new log. */
const FIRST_WRITE = { stream: '$$$scavenges', revision: 0n, events: [systemEvent('$metadata', SCAVENGES_METADATA)] }

/** The stream in which each leader records its election. Reads of $all count its events but do not return them. */
export const EPOCHS = '$epoch-information'

/** The stream whose events mark the ends of scavenges. */
export const SCAVENGE_POINTS = '$scavengePoints'

const isMetadata = (stream: string): boolean => stream.startsWith('$$')

/** Only the newest metadata of a stream is readable. */
const NEWEST_ONLY: StreamLimits = { maxCount: 1, maxAgeMs: null, truncateBefore: 0n }

const limitsOf = (metadata: string): StreamLimits => {
  const member = (name: string): string | undefined => new RegExp(`"\\$${name}":\\s*(\\d+)`).exec(metadata)?.[1]
  const [maxCount, maxAge, truncateBefore] = [member('maxCount'), member('maxAge'), member('tb')]
  return {
    maxCount: maxCount === undefined ? null : Number(maxCount),
    maxAgeMs: maxAge === undefined ? null : Number(maxAge) * 1000,
    truncateBefore: BigInt(truncateBefore ?? 0),
  }
}

export const createReplica = (): Replica => {
  const records: LogRecord[] = []
  const streams = new Map<string, LogRecord[]>()
  const rememberedIds = new Map<string, LogRecord>()
  const listeners = new Set<() => void>()
  let end = 0
  let scavengedTo = 0

  const recordsOf = (stream: string): ReadonlyArray<LogRecord> => streams.get(stream) ?? []
  const metadata = (stream: string): string => Buffer.from(recordsOf(`$$${stream}`).at(-1)?.data ?? []).toString()
  const last = (stream: string): bigint => recordsOf(stream).at(-1)?.revision ?? -1n

  /** Returns a predicate: whether a record is within the limits of its stream. */
  const isWithinLimits = (stream: string, now: number): ((record: LogRecord) => boolean) => {
    const { maxCount, maxAgeMs, truncateBefore } = isMetadata(stream) ? NEWEST_ONLY : limitsOf(metadata(stream))
    const first = maxCount === null ? 0n : last(stream) - BigInt(maxCount) + 1n
    return ({ revision, at }) =>
      revision >= first && revision >= truncateBefore && (maxAgeMs === null || at >= now - maxAgeMs)
  }

  /** Removes the records before `to` that limits and deletions hide. The last event of a stream stays. */
  const scavenge = (to: number, now: number): void => {
    const stays = new Set<LogRecord>()
    for (const [stream, all] of streams) {
      const isWithin = isWithinLimits(stream, now)
      const kept = all.filter((record, i) => record.position >= to || isWithin(record) || i === all.length - 1)
      streams.set(stream, kept)
      for (const record of kept) stays.add(record)
    }
    records.splice(0, records.length, ...records.filter((record) => stays.has(record)))
    scavengedTo = to
  }

  const add = ({ stream, revision, at, events, begin, end: after }: WriteInLog, isRecent: boolean): number => {
    const ofStream = streams.get(stream) ?? []
    streams.set(stream, ofStream)
    events.forEach((event, index) => {
      const next = index === events.length - 1 ? after : begin + index + 1
      const record = { ...event, stream, revision: revision + BigInt(index), at, position: begin + index, next }
      records.push(record)
      ofStream.push(record)
      if (isRecent) rememberedIds.set(event.id, record)
    })
    while (rememberedIds.size > REMEMBERED_IDS) rememberedIds.delete(rememberedIds.keys().next().value ?? '')
    end = after
    if (stream === SCAVENGE_POINTS) scavenge(begin, at)
    for (const listener of listeners) listener()
    return events.length === 0 ? begin : begin + events.length - 1
  }

  return {
    records,
    end: () => end,
    scavengedTo: () => scavengedTo,
    indexAt: (position) => {
      let [low, high] = [0, records.length]
      while (low < high) {
        const middle = (low + high) >> 1
        if ((records[middle]?.position ?? 0) < position) low = middle + 1
        else high = middle
      }
      return low
    },
    last,
    recordAt: (stream, revision) => {
      const all = recordsOf(stream)
      const likely = all[Number(revision - (all[0]?.revision ?? 0n))]
      return likely?.revision === revision ? likely : all.find((record) => record.revision === revision)
    },
    remembered: (id) => rememberedIds.get(id),
    isDeleted: (stream) => limitsOf(metadata(stream)).truncateBefore === DELETED,
    metadata,
    visible: (stream) => recordsOf(stream).filter(isWithinLimits(stream, Date.now())),
    onWrite: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    add,
  }
}

/**
 * Opens a log: the file, and its content in memory. It does not check the rules of appends. `onWritten` is called for
 * each earlier and each new write.
 */
export const openEventLog = (path: string, onWritten: (write: WriteInLog) => void = () => undefined): EventLog => {
  const file = openLogFile(path)
  const { add, ...view } = createReplica()
  for (const write of file.earlier) {
    add(write, false)
    onWritten(write)
  }
  const write = (proposed: Omit<Write, 'at'>): number => {
    const written = file.add({ ...proposed, at: Date.now() })
    const position = add(written, true)
    onWritten(written)
    return position
  }
  write({ stream: EPOCHS, revision: view.last(EPOCHS) + 1n, events: [systemEvent(EPOCHS, '{}')] })
  if (file.earlier.length === 0) write(FIRST_WRITE)
  return { ...view, write: (stream, revision, events) => write({ stream, revision, events }) }
}
