import * as t from 'io-ts'
import { failureCode, finishReason } from '../../../domain/live/events.ts'
import { decodeOrThrow } from '../../../domain/shared/codecs.ts'
import { segmentWord } from '../../../domain/transcript/events.ts'
import type { EndRequest, Ended } from '../../lives/end-by-worker.ts'
import type { LiveSignal, TranscriptFrame } from '../../pipeline/signals.ts'
import type { Position } from '../../ports/event-store.ts'
import type { Passed } from '../../ports/peers/live-links.ts'

/** What passes between processes beside a link's own messages, and how it is read again. */

const voice = t.keyof({ transcription: null, translation: null })

const frame: t.Type<TranscriptFrame> = t.intersection([
  t.type({
    kind: voice, segment: t.number, final: t.boolean, start: t.number, end: t.number, text: t.string, language: t.string,
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

/** Members of unknown names are left as they are: a later version may say more. */
const reading =
  <A>(codec: t.Decoder<unknown, A>) =>
  (passed: Passed): A =>
    decodeOrThrow(codec, passed)

/** The object itself: within a process nothing is copied. */
const passed = (value: object): Passed => value as Passed

/** A signal that another process is told: where the live is is said by links themselves. */
export type RelayedSignal = Exclude<LiveSignal, { readonly kind: 'moved' }>

export const signalFrom: (passed: Passed) => RelayedSignal = reading(signal)
export const frameFrom: (passed: Passed) => TranscriptFrame = reading(frame)
export const endRequestFrom: (passed: Passed) => EndRequest = reading(endRequest)
export const endedFrom: (passed: Passed) => Ended = reading(ended)
export const passedFrame: (frame: TranscriptFrame) => Passed = passed
export const passedSignal: (signal: RelayedSignal) => Passed = passed
export const passedEndRequest: (request: EndRequest) => Passed = passed
export const passedEnded: (ended: Ended) => Passed = passed
