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

/** Name of the key that seals the audio URL and the tokens. It is erased with the session or with its user. */
export const liveKey = (liveId: number): string => `live-${liveId}`
/** Name of the key that seals the transcript text of a session. */
export const textKey = (liveId: number): string => `text-${liveId}`
export const liveStream = (liveId: number): string => `live-${liveId}`
/** Holds the owner of a custom listener token: the user who used the token first. */
export const listenerTokenStream = (tokenHash: string): string => `listener-token-${tokenHash}`

const about = { liveId: id, userId: id, at: instant }

/** Leadership term of the first worker of a session. */
export const FIRST_TERM = 1

/** Style of the embeddable caption page. Null when the create request had no display field. */
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
  /**
   * Source language. Present only when the language is detected in the audio; otherwise it is the session's language.
   */
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
      /** Keyed hash of the URL, to find sessions by URL. Null for raw audio. */
      audioUrlHash: t.union([t.string, t.null]),
      autoStart: t.boolean,
      retention: t.boolean,
      /** Megabytes reserved for the model and the translators. */
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
 * A sender connected, accepted by the worker of `term`. `epoch` counts the senders. `instance` is the process that
 * holds the socket. Events of the first versions have no term.
 */
export const SenderAttached = defineEvent(
  'SenderAttached',
  object({ ...about, epoch: boundedInteger(1, 1e9), instance: t.string }, { term }),
)

export const SenderDetached = defineEvent('SenderDetached', t.strict({ ...about, epoch: boundedInteger(1, 1e9) }))

/** The worker of a new term begins. The sender of the earlier term is disconnected. */
export const LiveTakenOver = defineEvent('LiveTakenOver', t.strict({ ...about, worker: t.string, term }))

/** The sender changed `prompt` or `hotwords`. The event holds both, and they apply from then on. */
export const VocabularyChanged = definePersonalEvent(
  'VocabularyChanged',
  t.strict({ ...about, term, vocabulary: sealedVocabulary }),
  ['vocabulary'],
  (data) => liveKey(data.liveId),
)

/** Decodes an opened vocabulary. An erased vocabulary is empty. */
export const openedVocabulary = (text: string): GivenVocabulary =>
  E.getOrElse(() => NO_VOCABULARY)(sealedVocabulary.decode(text))

/**
 * A source process began at `sampleOffset` samples of the session's clock (16 kHz), after `mediaSequence` of an HLS
 * source. A second event follows once the first media sequence of the playlist is known.
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

/** The session changed from pending to active. */
export const LiveStarted = defineEvent('LiveStarted', t.strict(about))

/** Why a session finished. */
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

/** `detail` is for people and must not contain transcript text or secrets. */
export const LiveFailed = defineEvent('LiveFailed', t.strict({ ...about, code: failureCode, detail: t.string }))

/** A create did not complete: it was left over (`orphan`) or its listener token was taken. It is never listed. */
export const LiveAborted = defineEvent(
  'LiveAborted',
  t.strict({ ...about, reason: t.keyof({ orphan: null, token_taken: null }) }),
)

/** The session is hidden everywhere and its keys are erased. A running session finishes first. */
export const LiveDeleted = defineEvent(
  'LiveDeleted',
  t.strict({ ...about, lastStatus: t.keyof({ finished: null, error: null }) }),
)

export const liveEvents = [
  LiveCreated, SenderAttached, SenderDetached, LiveTakenOver, VocabularyChanged, SourceStarted, LiveStarted,
  LiveFinished, LiveFailed, LiveAborted, LiveDeleted,
] as const

export type LiveEvent = EventOf<(typeof liveEvents)[number]>
export type StoredLiveEvent = StoredEventOf<(typeof liveEvents)[number]>

/** A user was the first to use a custom listener token. */
export const ListenerTokenClaimed = defineEvent('ListenerTokenClaimed', t.strict({ userId: id, at: instant }))
export type ListenerTokenClaimed = EventOf<typeof ListenerTokenClaimed>
