import { DELETED, systemEvent, type EventLog } from './event-log.ts'
import type { ProposedEvent } from './log-file.ts'

export type Expected = bigint | 'any' | 'no_stream' | 'stream_exists'

export type AppendAnswer =
  | { readonly kind: 'done'; readonly revision: bigint; readonly position: number | null }
  /** `actual` is -1n where there is no stream. */
  | { readonly kind: 'wrong-version'; readonly actual: bigint }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'bad-request' }

export const MAX_APPEND_BYTES = 1024 * 1024

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const metadataEvent = (data: string): ProposedEvent => systemEvent('$metadata', data)

type Verdict =
  { readonly kind: 'write' } | { readonly kind: 'stored'; readonly last: bigint } | { readonly kind: 'refused' }

/** Without an expected revision a retry is recognised by remembered ids only. */
const judgeByMemory = (log: EventLog, stream: string, events: ReadonlyArray<ProposedEvent>): Verdict => {
  let last: bigint | null = null
  for (const [index, { id }] of events.entries()) {
    const remembered = log.remembered(id)
    if (remembered?.stream !== stream) return index === 0 ? { kind: 'write' } : { kind: 'refused' }
    last = remembered.revision
  }
  return last === null ? { kind: 'write' } : { kind: 'stored', last }
}

/** With a wrong expected revision the events after that revision decide whether the append is a retry. */
const judgeByRevision = (
  log: EventLog,
  stream: string,
  expected: bigint,
  events: ReadonlyArray<ProposedEvent>,
): Verdict => {
  const current = log.last(stream)
  if (expected === current) return { kind: 'write' }
  if (expected > current) return { kind: 'refused' }
  for (const [index, { id }] of events.entries()) {
    const revision = expected + 1n + BigInt(index)
    const remembered = log.remembered(id)
    const isRemembered = remembered?.stream === stream && remembered.revision === revision
    if (log.recordAt(stream, revision)?.id === id || isRemembered) continue
    return index === 0 && expected === -1n && log.isDeleted(stream) ? { kind: 'write' } : { kind: 'refused' }
  }
  return events.length === 0 ? { kind: 'write' } : { kind: 'stored', last: expected + BigInt(events.length) }
}

const judge = (log: EventLog, stream: string, expected: Expected, events: ReadonlyArray<ProposedEvent>): Verdict => {
  if (expected === 'stream_exists' && log.last(stream) < 0n) return { kind: 'refused' }
  if (expected === 'any' || expected === 'stream_exists') return judgeByMemory(log, stream, events)
  return judgeByRevision(log, stream, expected === 'no_stream' ? -1n : expected, events)
}

/** Keeps deleted events hidden: the server adds the limit `$tb` (truncate before) to the metadata. */
const undelete = (log: EventLog, stream: string, first: bigint): void => {
  const metadata = JSON.parse(log.metadata(stream)) as Readonly<Record<string, unknown>>
  log.write(`$$${stream}`, log.last(`$$${stream}`) + 1n, [
    metadataEvent(JSON.stringify({ ...metadata, $tb: Number(first) })),
  ])
}

/** A write to a deleted stream or to its metadata restores the stream. */
const writeAndUndelete = (log: EventLog, stream: string, events: ReadonlyArray<ProposedEvent>) => {
  const owner = stream.startsWith('$$') ? stream.slice(2) : stream
  const isUndeleted = log.isDeleted(owner)
  const visibleFrom = log.last(owner) + 1n
  const position = log.write(stream, log.last(stream) + 1n, events)
  const last = log.last(stream)
  if (isUndeleted) undelete(log, owner, visibleFrom)
  return { revision: last < 0n ? 0n : last, position }
}

/** Appends by the rules that were observed on server 23.10.6 (docs/decisions/0012-eventstoredb.md). */
export const append = (
  log: EventLog,
  stream: string,
  expected: Expected,
  events: ReadonlyArray<ProposedEvent>,
): AppendAnswer => {
  if (stream === '' || events.some(({ id }) => !UUID.test(id))) return { kind: 'bad-request' }
  const bytes = events.reduce(
    (sum, { type, data, metadata }) => sum + 2 * type.length + data.length + metadata.length,
    0,
  )
  if (bytes > MAX_APPEND_BYTES) return { kind: 'too-large' }
  const verdict = judge(log, stream, expected, events)
  switch (verdict.kind) {
    case 'refused':
      return { kind: 'wrong-version', actual: log.last(stream) }
    case 'stored':
      return {
        kind: 'done',
        revision: verdict.last,
        position: log.isDeleted(stream) ? null : (log.recordAt(stream, verdict.last)?.position ?? null),
      }
    case 'write':
      return { kind: 'done', ...writeAndUndelete(log, stream, events) }
  }
}

/** Deletes a stream. */
export const removeStream = (
  log: EventLog, stream: string, expected: Expected,
): Extract<AppendAnswer, { kind: 'wrong-version' }> | { readonly kind: 'done'; readonly position: number } => {
  const actual = log.last(stream)
  if (actual < 0n || (typeof expected === 'bigint' && expected !== actual)) return { kind: 'wrong-version', actual }
  const metadata = metadataEvent(`{"$tb":${DELETED}}`)
  return { kind: 'done', position: log.write(`$$${stream}`, log.last(`$$${stream}`) + 1n, [metadata]) }
}
