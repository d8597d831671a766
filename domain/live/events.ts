import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { term } from '../admission/events.ts'
import { boundedInteger, boundedNumber, id, instant, object } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent } from '../shared/event.ts'
import type { EventOf, StoredEventOf } from '../shared/event.ts'
import { engineSettings } from './settings.ts'
import { NO_VOCABULARY, sealedVocabulary } from './vocabulary.ts'
import type { GivenVocabulary } from './vocabulary.ts'

export const audioFormat = t.keyof({ raw: null, hls: null, rtmp: null, rtsp: null })
export type AudioFormat = t.TypeOf<typeof audioFormat>

/** Name of the key that seals the members of a live (audio URL, tokens); it dies with the live or its user. */
export const liveKey = (liveId: number): string => `live-${liveId}`
/** Name of the key that seals a live's transcript text. */
export const textKey = (liveId: number): string => `text-${liveId}`
export const liveStream = (liveId: number): string => `live-${liveId}`
/** Who first used a custom listener token owns it for ever (D15). */
export const listenerTokenStream = (tokenHash: string): string => `listener-token-${tokenHash}`

const about = { liveId: id, userId: id, at: instant }

/** Of a live that was never moved. */
export const FIRST_TERM = 1

/** Look of the embeddable view, null unless a display field was given (D21). */
const display = t.union([
  t.null,
  t.strict({
    background_color: t.union([t.string, t.null]),
    color_text: t.union([t.string, t.null]),
    size_text: t.union([boundedNumber(0, 1000), t.null]),
  }),
])

const translation = object(
  { id, model: t.string, to: t.string, vram: boundedInteger(0, 1e9) },
  /** Of a live whose language is found in the audio; of any other it is the language of its text. */
  { from: t.string },
)

export const LiveCreated = definePersonalEvent(
  'LiveCreated',
  object(
    {
      ...about,
      commandId: t.string,
      worker: t.string,
      model: t.strict({ id, name: t.string, vram: boundedInteger(0, 1e9) }),
      language: t.string,
      translations: t.readonlyArray(translation),
      audioFormat,
      audioUrl: t.union([t.string, t.null]),
      /** Keyed hash of the URL (finish-by-audio_url compares it), null for raw. */
      audioUrlHash: t.union([t.string, t.null]),
      autoStart: t.boolean,
      retention: t.boolean,
      /** Megabytes reserved: model and translations. */
      vram: boundedInteger(0, 1e9),
      config: engineSettings,
      display,
      senderToken: t.string,
      senderTokenHash: t.string,
      listenerToken: t.string,
      listenerTokenHash: t.string,
    },
    { vocabulary: sealedVocabulary },
  ),
  ['audioUrl', 'senderToken', 'listenerToken', 'vocabulary'],
  (data) => liveKey(data.liveId),
)

/**
 * A sender was given the live's one place, by the worker of the term; `epoch` counts the senders, `instance` is the
 * process that holds the socket. The first versions told no term.
 */
export const SenderAttached = defineEvent(
  'SenderAttached',
  object({ ...about, epoch: boundedInteger(1, 1e9), instance: t.string }, { term }),
)

export const SenderDetached = defineEvent('SenderDetached', t.strict({ ...about, epoch: boundedInteger(1, 1e9) }))

/** The worker of a new term begins: the sender of the term before has gone with its worker. */
export const LiveTakenOver = defineEvent('LiveTakenOver', t.strict({ ...about, worker: t.string, term }))

/** All that a sender said that speakers are likely to say: it counts from here on. */
export const VocabularyChanged = definePersonalEvent(
  'VocabularyChanged',
  t.strict({ ...about, term, vocabulary: sealedVocabulary }),
  ['vocabulary'],
  (data) => liveKey(data.liveId),
)

/** A sealed vocabulary that was opened, or erased. */
export const openedVocabulary = (text: string): GivenVocabulary =>
  E.getOrElse(() => NO_VOCABULARY)(sealedVocabulary.decode(text))

/**
 * A source process began at `sampleOffset` samples of the live's clock (16 kHz), behind `mediaSequence` of an HLS source;
 * once more when it is known where in its playlist a source begins.
 */
export const SourceStarted = defineEvent(
  'SourceStarted',
  t.strict({
    ...about,
    pid: t.union([boundedInteger(1, 2 ** 31), t.null]),
    sampleOffset: boundedInteger(0, Number.MAX_SAFE_INTEGER),
    nextSegment: boundedInteger(1, Number.MAX_SAFE_INTEGER),
    mediaSequence: t.union([boundedInteger(-1, Number.MAX_SAFE_INTEGER), t.null]),
  }),
)

/** pending → active (D24). */
export const LiveStarted = defineEvent('LiveStarted', t.strict(about))

/** Why a live finished: the rows of A4's table of ends. */
export const finishReason = t.keyof({
  finish_message: null,
  finish_route: null,
  source_ended: null,
  sender_closed: null,
  audio_too_fast: null,
  rate_limited: null,
  bad_frames: null,
  restart: null,
  owner_disabled: null,
  deleted: null,
  pending_timeout: null,
  max_duration: null,
  idle: null,
})
export type FinishReason = t.TypeOf<typeof finishReason>

export const LiveFinished = defineEvent('LiveFinished', t.strict({ ...about, reason: finishReason }))

export const failureCode = t.keyof({ engine_failed: null, model_load_failed: null, source_failed: null })
export type FailureCode = t.TypeOf<typeof failureCode>

/** `detail` is for people and holds neither transcript nor secrets. */
export const LiveFailed = defineEvent('LiveFailed', t.strict({ ...about, code: failureCode, detail: t.string }))

/** A create that never completed, fenced off by the reconciler or by a lost token claim; such a live is never listed. */
export const LiveAborted = defineEvent('LiveAborted', t.strict({ ...about, reason: t.keyof({ orphan: null, token_taken: null }) }))

/** Its owner no longer wants it: from here on it is nowhere to be seen, and its keys die. A live that ran has finished right before. */
export const LiveDeleted = defineEvent('LiveDeleted', t.strict({ ...about, lastStatus: t.keyof({ finished: null, error: null }) }))

export const liveEvents = [
  LiveCreated, SenderAttached, SenderDetached, LiveTakenOver, VocabularyChanged, SourceStarted, LiveStarted,
  LiveFinished, LiveFailed, LiveAborted, LiveDeleted,
] as const

export type LiveEvent = EventOf<(typeof liveEvents)[number]>
export type StoredLiveEvent = StoredEventOf<(typeof liveEvents)[number]>

/** First use of a custom listener token. */
export const ListenerTokenClaimed = defineEvent('ListenerTokenClaimed', t.strict({ userId: id, at: instant }))
export type ListenerTokenClaimed = EventOf<typeof ListenerTokenClaimed>
