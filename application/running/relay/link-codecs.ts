import * as t from 'io-ts'
import type { TranscriptFrame } from '../../../domain/transcript/frame.ts'
import { failureCode, finishReason } from '../../../domain/live/events.ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { segmentWord } from '../../../domain/transcript/events.ts'
import type { EndRequest, Ended } from '../../lives/ending.ts'
import type { LiveSignal } from '../../pipeline/signals.ts'
import type { Position } from '../../ports/event-store.ts'
import type { RelayedData } from '../../ports/live-links.ts'

/** Encodes and decodes the values that link messages contain. */

const frameKind = t.keyof({ transcription: null, translation: null })

const frame: t.Type<TranscriptFrame> = t.intersection([
  t.type({
    kind: frameKind,
    segment: t.number,
    final: t.boolean,
    start: t.number,
    end: t.number,
    text: t.string,
    language: t.string,
  }),
  t.partial({ words: t.readonlyArray(segmentWord) }),
])

const endCause = t.union([
  t.type({ status: t.literal('finished'), reason: finishReason }),
  t.type({ status: t.literal('error'), code: failureCode, detail: t.string }),
])

const signal = t.union([
  frame,
  t.type({ kind: t.literal('started') }),
  t.type({ kind: t.literal('ended'), cause: endCause }),
])

const endRequest = t.type({
  cause: endCause,
  origin: t.type({ commandId: t.string, actor: t.string, correlationId: t.string }),
  limitMs: t.number,
})

const isPosition = (value: unknown): value is Position => typeof value === 'string'
const position = new t.Type<Position>(
  'Position', isPosition, (u, c) => (isPosition(u) ? t.success(u) : t.failure(u, c)), t.identity,
)

const ended = t.type({ position: t.union([position, t.null]) })

/** Keeps unknown members, because a later version may send more. */
const decoderOf =
  <A>(codec: t.Decoder<unknown, A>) =>
  (data: RelayedData): A =>
    decodeOrThrow(codec, data)

/** Returns the object itself, without a copy. */
const encode = (value: object): RelayedData => value as RelayedData

/** A signal that is sent to other processes. Links report a move themselves. */
export type RelayedSignal = Exclude<LiveSignal, { readonly kind: 'moved' }>

export const decodeSignal: (data: RelayedData) => RelayedSignal = decoderOf(signal)
export const decodeFrame: (data: RelayedData) => TranscriptFrame = decoderOf(frame)
export const decodeEndRequest: (data: RelayedData) => EndRequest = decoderOf(endRequest)
export const decodeEnded: (data: RelayedData) => Ended = decoderOf(ended)
export const encodeFrame: (frame: TranscriptFrame) => RelayedData = encode
export const encodeSignal: (signal: RelayedSignal) => RelayedData = encode
export const encodeEndRequest: (request: EndRequest) => RelayedData = encode
export const encodeEnded: (ended: Ended) => RelayedData = encode
