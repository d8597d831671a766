import * as t from 'io-ts'
import { boundedInteger, instant } from './codecs.ts'
import { definePersonalEvent, type EventOf } from './event.ts'

/** How the state of a kind of stream is stored, so a long stream need not be read from its beginning. */
export interface SnapshotFormat<State> {
  /** Raise it when the state gets another shape or `evolve` another meaning. Snapshots of other versions are unused. */
  readonly version: number
  readonly codec: t.Type<State, unknown>
  /** Name of the key that seals the state: the key of the personal members it holds. Null: it holds none. */
  readonly keyOf: (state: State) => string | null
  /** True: all snapshots are kept, because clients read earlier states. Otherwise only the newest ones are. */
  readonly isKept: boolean
}

/** The stream with the snapshots of `stream`. Its name does not begin like the stream, so no follower reads it. */
export const snapshotStream = (stream: string): string => `snapshot-${stream}`

const whole = boundedInteger(0, Number.MAX_SAFE_INTEGER)

/**
 * The state of `stream` up to its event `eventId` at `revision`. The state is JSON text; a long text is divided into
 * `parts` successive events, because EventStoreDB limits an append to 1 MiB. `key` seals the text. A state without
 * personal data has no key, and its text is in `plain`.
 */
export const StateSnapshotTaken = definePersonalEvent(
  'StateSnapshotTaken',
  t.strict({
    stream: t.string,
    revision: whole,
    eventId: t.string,
    version: whole,
    part: whole,
    parts: whole,
    key: t.union([t.string, t.null]),
    sealed: t.union([t.string, t.null]),
    plain: t.union([t.string, t.null]),
    at: instant,
  }),
  ['sealed'],
  ({ key }) => key ?? '',
)
export type StateSnapshotTaken = EventOf<typeof StateSnapshotTaken>

/** Characters of one part. Encrypted, even text of three bytes a character stays below 1 MiB. */
const PART_CHARACTERS = 250_000

const isLowSurrogate = (text: string, at: number): boolean => (text.charCodeAt(at) & 0xfc00) === 0xdc00

/** Divides a text into parts, never within a character. */
export const partsOf = (text: string, maxCharacters = PART_CHARACTERS): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let from = 0; from === 0 || from < text.length; ) {
    const cut = from + maxCharacters
    const until = isLowSurrogate(text, cut) ? cut - 1 : cut
    parts.push(text.slice(from, until))
    from = until
  }
  return parts
}
