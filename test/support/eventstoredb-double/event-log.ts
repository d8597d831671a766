import { openLogFile, type ProposedEvent, type WriteInLog } from './log-file.ts'

/** Revision of the event that ends a tombstoned stream, and `$tb` of a deleted one. */
export const LAST_REVISION = 9223372036854775807n

/** Ids that are remembered with the stream and revision they got; forgotten when this process ends. */
const REMEMBERED_IDS = 50_000

export interface LogRecord extends ProposedEvent {
  readonly stream: string
  readonly revision: bigint
  readonly at: number
  /** Commit and prepare position alike. */
  readonly position: number
  /** Position of whatever comes next. */
  readonly next: number
}

export interface StreamLimits {
  readonly maxCount: number | null
  readonly maxAgeMs: number | null
  /** First revision that is read. */
  readonly truncateBefore: bigint
}

export interface EventLog {
  readonly records: ReadonlyArray<LogRecord>
  /** Position behind the last record. */
  readonly end: () => number
  /** Last revision of a stream, -1n when there is none. */
  readonly last: (stream: string) => bigint
  readonly at: (stream: string, revision: bigint) => LogRecord | undefined
  /** Where an id was written recently. */
  readonly remembered: (id: string) => Pick<LogRecord, 'stream' | 'revision'> | undefined
  readonly isTombstoned: (stream: string) => boolean
  readonly isDeleted: (stream: string) => boolean
  readonly metadata: (stream: string) => string
  /** Whether a record begins there, scavenged or not, or the log ends there. */
  readonly isPlace: (position: number) => boolean
  /** Takes out of $all what its stream no longer shows, but the last event of each stream. */
  readonly scavenge: () => void
  readonly isScavenged: (record: LogRecord) => boolean
  /** Records of a stream that reads show. */
  readonly visible: (stream: string) => ReadonlyArray<LogRecord>
  /** Answers the position of the last event; a tombstone has LAST_REVISION. */
  readonly write: (stream: string, revision: bigint, events: ReadonlyArray<ProposedEvent>) => number
  readonly onWrite: (listener: () => void) => () => void
}

const limitsOf = (metadata: string): StreamLimits => {
  const member = (name: string): string | undefined => new RegExp(`"\\$${name}":\\s*(\\d+)`).exec(metadata)?.[1]
  const [maxCount, maxAge, truncateBefore] = [member('maxCount'), member('maxAge'), member('tb')]
  return {
    maxCount: maxCount === undefined ? null : Number(maxCount),
    maxAgeMs: maxAge === undefined ? null : Number(maxAge) * 1000,
    truncateBefore: BigInt(truncateBefore ?? 0),
  }
}

/** The whole log in memory over its file: what is written, whatever the rules for writing are. */
export const openEventLog = (path: string): EventLog => {
  const file = openLogFile(path)
  const records: LogRecord[] = []
  const streams = new Map<string, LogRecord[]>()
  const tombstoned = new Set<string>()
  const rememberedIds = new Map<string, LogRecord>()
  const places = new Set<number>()
  const scavenged = new Set<LogRecord>()
  const listeners = new Set<() => void>()
  let end = 0

  const add = ({ stream, revision, at, events, begin, end: behind }: WriteInLog, isRecent: boolean): number => {
    const known = streams.get(stream) ?? []
    streams.set(stream, known)
    events.forEach((event, index) => {
      const next = index === events.length - 1 ? behind : begin + index + 1
      const record = { ...event, stream, revision: revision + BigInt(index), at, position: begin + index, next }
      records.push(record)
      places.add(record.position)
      if (revision === LAST_REVISION) tombstoned.add(stream)
      else known.push(record)
      if (isRecent) rememberedIds.set(event.id, record)
    })
    while (rememberedIds.size > REMEMBERED_IDS) rememberedIds.delete(rememberedIds.keys().next().value ?? '')
    end = behind
    return events.length === 0 ? begin : begin + events.length - 1
  }
  for (const write of file.earlier) add(write, false)

  const of = (stream: string): ReadonlyArray<LogRecord> => streams.get(stream) ?? []
  const metadata = (stream: string): string => Buffer.from(of(`$$${stream}`).at(-1)?.data ?? []).toString()

  const visible = (stream: string): ReadonlyArray<LogRecord> => {
    const { maxCount, maxAgeMs, truncateBefore } = limitsOf(metadata(stream))
    const all = of(stream)
    const byCount = maxCount === null ? 0 : Math.max(0, all.length - maxCount)
    const youngest = maxAgeMs === null ? 0 : Date.now() - maxAgeMs
    return all.slice(byCount).filter(({ revision, at }) => revision >= truncateBefore && at >= youngest)
  }

  return {
    records,
    end: () => end,
    last: (stream) => BigInt(of(stream).length - 1),
    at: (stream, revision) => (revision < 0n || revision >= BigInt(of(stream).length) ? undefined : of(stream)[Number(revision)]),
    remembered: (id) => rememberedIds.get(id),
    isTombstoned: (stream) => tombstoned.has(stream) || (stream.startsWith('$$') && tombstoned.has(stream.slice(2))),
    isDeleted: (stream) => limitsOf(metadata(stream)).truncateBefore === LAST_REVISION,
    metadata,
    isPlace: (position) => position === end || places.has(position),
    scavenge: () => {
      for (const [stream, its] of streams) {
        const kept = new Set([...(stream.startsWith('$$') ? [] : visible(stream)), its.at(-1)])
        for (const record of its) if (!kept.has(record)) scavenged.add(record)
      }
    },
    isScavenged: (record) => scavenged.has(record),
    visible,
    write: (stream, revision, events) => {
      const position = add(file.add({ stream, revision, at: Date.now(), events }), true)
      for (const listener of listeners) listener()
      return position
    },
    onWrite: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
