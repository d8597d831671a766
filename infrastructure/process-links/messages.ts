import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { FromWorker, ToWorker } from '../../application/ports/live-links.ts'
import { LIVE_STATUSES } from '../../application/ports/read-models.ts'
import { boundedInteger, boundedString } from '../../domain/shared/codecs.ts'

/**
 * Size of 500 final segments of 16 KiB. A sender's frame of 512 KiB needs less than half of this size, even when JSON
 * escapes every character.
 */
export const MAX_MESSAGE_BYTES = 8 * 1024 * 1024

/** A frame of a link. Text: a JSON message. Binary: the unchanged frame of a sender. */
export type Frame = string | Uint8Array

/** A decoded frame. `unknown`: a kind of a newer version, to be ignored. */
export type Decoded<A> =
  | { readonly _tag: 'message'; readonly message: A }
  | { readonly _tag: 'unknown'; readonly kind: string }
  | { readonly _tag: 'malformed'; readonly why: string }

type Kinds<A extends { readonly kind: string }> = {
  readonly [K in A['kind']]: t.Decoder<unknown, Extract<A, { readonly kind: K }>>
}

const count = boundedInteger(0, Number.MAX_SAFE_INTEGER)
const nullable = <A>(codec: t.Type<A>): t.Type<A | null> => t.union([codec, t.null])
const requestId = boundedString(1, 200)
/** Number of the worker's period of leadership for a session. */
const term = boundedInteger(1, Number.MAX_SAFE_INTEGER)
/** Members of an AudioPlace. */
const place = { frame: count, sample: count }

const TO_WORKER: Kinds<Exclude<ToWorker, { readonly kind: 'binary' }>> = {
  hello: t.strict({ kind: t.literal('hello'), relay: count, term, listens: t.boolean }),
  listen: t.strict({ kind: t.literal('listen'), listens: t.boolean }),
  sender: t.strict({ kind: t.literal('sender'), requestId, from: nullable(t.strict(place)) }),
  text: t.strict({ kind: t.literal('text'), text: nullable(t.string) }),
  gone: t.strict({ kind: t.literal('gone'), requestId, how: t.keyof({ clean: null, broken: null, abandoned: null }) }),
}

const status = new t.Type<(typeof LIVE_STATUSES)[number]>(
  'LiveStatus',
  (u): u is (typeof LIVE_STATUSES)[number] => LIVE_STATUSES.some((known) => known === u),
  (u, c) => {
    const known = LIVE_STATUSES.find((candidate) => candidate === u)
    return known === undefined ? t.failure(u, c) : t.success(known)
  },
  t.identity,
)

const FROM_WORKER: Kinds<FromWorker> = {
  here: t.strict({ kind: t.literal('here'), term, status }),
  elsewhere: t.strict({ kind: t.literal('elsewhere'), worker: nullable(t.string), term: nullable(term) }),
  recent: t.strict({
    kind: t.literal('recent'),
    finals: t.readonlyArray(t.UnknownRecord),
    isWhole: t.boolean,
    dropped: t.readonlyArray(t.string),
  }),
  signal: t.strict({ kind: t.literal('signal'), signal: t.UnknownRecord }),
  admitted: t.strict({ kind: t.literal('admitted'), requestId }),
  refused: t.strict({
    kind: t.literal('refused'),
    requestId,
    why: t.keyof({ already_connected: null, over: null, unavailable: null }),
  }),
  reply: t.strict({ kind: t.literal('reply'), frame: t.string }),
  close: t.strict({ kind: t.literal('close'), frame: t.string, close: boundedInteger(1000, 4999), reason: t.string }),
  hold: t.strict({ kind: t.literal('hold'), on: t.boolean }),
  heard: t.strict({ kind: t.literal('heard'), ...place }),
  covered: t.strict({ kind: t.literal('covered'), ...place }),
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const malformed = (why: string): Decoded<never> => ({ _tag: 'malformed', why })

const decodeText = <A extends { readonly kind: string }>(
  codecs: ReadonlyMap<string, t.Decoder<unknown, A>>,
  text: string,
): Decoded<A> => {
  const value = parsed(text)
  if (!t.type({ kind: t.string }).is(value)) return malformed('text that is not a JSON message')
  const codec = codecs.get(value.kind)
  if (codec === undefined) return { _tag: 'unknown', kind: value.kind.slice(0, 50) }
  const decoded = codec.decode(value)
  if (E.isRight(decoded)) return { _tag: 'message', message: decoded.right }
  // Names the member without its value, which may contain transcript text.
  const member = decoded.left[0]?.context.map(({ key }) => key).filter((key) => key !== '').join('.') ?? ''
  return malformed(`a message of kind ${value.kind} with an invalid ${member === '' ? 'shape' : `member ${member}`}`)
}

const toWorkerKinds = new Map<string, t.Decoder<unknown, ToWorker>>(Object.entries(TO_WORKER))
const fromWorkerKinds = new Map<string, t.Decoder<unknown, FromWorker>>(Object.entries(FROM_WORKER))

export const decodeToWorker = (frame: Frame): Decoded<ToWorker> =>
  typeof frame === 'string'
    ? decodeText(toWorkerKinds, frame)
    : { _tag: 'message', message: { kind: 'binary', bytes: frame } }

export const decodeFromWorker = (frame: Frame): Decoded<FromWorker> =>
  typeof frame === 'string' ? decodeText(fromWorkerKinds, frame) : malformed('a binary frame')

export const encode = (message: ToWorker | FromWorker): Frame =>
  message.kind === 'binary' ? message.bytes : JSON.stringify(message)
