import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import { term } from '../admission/events.ts'
import { boundedInteger, boundedNumber, id, instant, object } from '../shared/codecs.ts'
import { defineEvent, definePersonalEvent, type EventOf, type StoredEventOf } from '../shared/event.ts'
import { engineSettings } from './settings.ts'
import { type GivenVocabulary, NO_VOCABULARY, sealedVocabulary } from './vocabulary.ts'

export const audioFormat = t.keyof({ raw: null, hls: null, rtmp: null, rtsp: null })
export type AudioFormat = t.TypeOf<typeof audioFormat>

/**
 * Name of the key that seals (encrypts) the audio URL, the tokens and the vocabulary. The key is erased when the
 * session or its user is deleted.
 */
export const liveKey = (liveId: number): string => `live-${liveId}`
/** Name of the key that seals the transcript text of a session. */
export const textKey = (liveId: number): string => `text-${liveId}`
export const liveStream = (liveId: number): string => `live-${liveId}`
/** Holds the owner of a custom listener token: the user who used the token first. */
export const listenerTokenStream = (tokenHash: string): string => `listener-token-${tokenHash}`

/** Members that all events of a session have. */
const common = { liveId: id, userId: id, at: instant }

/** Leadership term of the first worker of a session. Each takeover by another worker begins the next term. */
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
   * Source language. Present only when the language is detected in the audio. Otherwise the source language is the
   * session's language.
   */
  { from: t.string },
)

/** Members of LiveCreated that the documents and views of a session keep. Administrators see them too. */
export const KEPT_IN_CLEAR = [
  'userId', 'worker', 'model', 'language', 'translations', 'audioFormat', 'audioUrlHash', 'autoStart', 'retention',
  'vram', 'config', 'display',
] as const
/** Members of LiveCreated that the documents and views of a session keep sealed. Only the owner sees them. */
export const KEPT_SEALED = ['audioUrl', 'senderToken', 'listenerToken', 'vocabulary'] as const

export const LiveCreated = definePersonalEvent(
  'LiveCreated',
  object(
    {
      ...common,
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
  KEPT_SEALED,
  (data) => liveKey(data.liveId),
)
export type LiveCreatedData = EventOf<typeof LiveCreated>['data']

/**
 * A sender sent its first audio, or stays although it is silent. The worker of `term` accepted it. `epoch` counts these
 * senders. `instance` is the process of the worker. Events of the first versions have no term.
 */
export const SenderAttached = defineEvent(
  'SenderAttached',
  object({ ...common, epoch: boundedInteger(1, 1e9), instance: t.string }, { term }),
)

export const SenderDetached = defineEvent('SenderDetached', t.strict({ ...common, epoch: boundedInteger(1, 1e9) }))

/** The worker of a new term begins. The sender of the earlier term is disconnected. */
export const LiveTakenOver = defineEvent('LiveTakenOver', t.strict({ ...common, worker: t.string, term }))

/** The sender changed `prompt` or `hotwords`. The event contains both. They apply from this event on. */
export const VocabularyChanged = definePersonalEvent(
  'VocabularyChanged',
  t.strict({ ...common, term, vocabulary: sealedVocabulary }),
  ['vocabulary'],
  (data) => liveKey(data.liveId),
)

/** Decodes the decrypted text of a vocabulary. Returns an empty vocabulary when its key was erased. */
export const openedVocabulary = (text: string): GivenVocabulary =>
  E.getOrElse(() => NO_VOCABULARY)(sealedVocabulary.decode(text))

const place = {
  sampleOffset: boundedInteger(0, Number.MAX_SAFE_INTEGER),
  nextSegment: boundedInteger(1, Number.MAX_SAFE_INTEGER),
  mediaSequence: t.union([boundedInteger(-1, Number.MAX_SAFE_INTEGER), t.null]),
}
/** The place where a source process began. */
export const sourcePoint = t.strict(place)

/**
 * A source process, which pulls the audio URL, began at `sampleOffset` samples of the session's clock (16 kHz). For HLS
 * it reads the parts of the playlist after number `mediaSequence`. A second event follows once the number of the first
 * part is known.
 */
export const SourceStarted = defineEvent(
  'SourceStarted',
  t.strict({
    ...common,
    pid: t.union([boundedInteger(1, 2 ** 31), t.null]),
    ...place,
  }),
)

/** The session changed from pending to active. */
export const LiveStarted = defineEvent('LiveStarted', t.strict(common))

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

export const LiveFinished = defineEvent('LiveFinished', t.strict({ ...common, reason: finishReason }))

export const failureCode = t.keyof({ engine_failed: null, model_load_failed: null, source_failed: null })
export type FailureCode = t.TypeOf<typeof failureCode>

/** `detail` is for people and must not contain transcript text or secrets. */
export const LiveFailed = defineEvent('LiveFailed', t.strict({ ...common, code: failureCode, detail: t.string }))

/** Why a session ended. Each cause has its own close code in the interface. */
export type EndCause =
  | { readonly status: 'finished'; readonly reason: FinishReason }
  | { readonly status: 'error'; readonly code: FailureCode; readonly detail: string }

/** Returns why a session ended from the event that ended it. */
export const causeOf = (end: EventOf<typeof LiveFinished | typeof LiveFailed>): EndCause =>
  end.type === 'LiveFinished'
    ? { status: 'finished', reason: end.data.reason }
    : { status: 'error', code: end.data.code, detail: end.data.detail }

/**
 * A create did not complete, because it was abandoned (`orphan`) or its listener token was taken. The session is never
 * listed.
 */
export const LiveAborted = defineEvent(
  'LiveAborted',
  t.strict({ ...common, reason: t.keyof({ orphan: null, token_taken: null }) }),
)

/** The session is hidden everywhere and its keys are erased. A running session finishes first. */
export const LiveDeleted = defineEvent(
  'LiveDeleted',
  t.strict({ ...common, lastStatus: t.keyof({ finished: null, error: null }) }),
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
