import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { GetCapacity } from '../../../application/admission/get-capacity.ts'
import type { GetActivity } from '../../../application/lives/queries/get-activity.ts'
import { boundedNumber, instant } from '../../../domain/shared/codecs.ts'
import { count, nullable, roundToMs, single } from '../codecs/presenters.ts'
import { modelOptions } from '../codecs/model-codecs.ts'
import { pathId } from '../codecs/request-codecs.ts'
import { UNAVAILABLE } from '../errors.ts'
import { privateRoute, type Route } from '../route.ts'

export interface ActivityCalls {
  readonly getActivity: GetActivity
  readonly getCapacity: GetCapacity
}

const seconds = boundedNumber(0, Number.MAX_SAFE_INTEGER)

const activityView = t.strict(
  {
    lag: nullable(seconds),
    listeners: count,
    sender_connected: t.boolean,
    audio_seconds: seconds,
    segments: count,
    wrong_samples: nullable(t.keyof({ float32: null, big_endian: null })),
    text_until: nullable(instant),
    ignored: modelOptions,
  },
  'LiveActivity',
)

const capacityView = t.strict(
  {
    vram_total: count,
    vram_reserved: count,
    vram_free: count,
    open_sessions: count,
    max_sessions: count,
    max_translations: count,
  },
  'Capacity',
)

const getActivity = privateRoute(
  'private',
  {
    operationId: 'getActivity',
    summary: 'Get the current activity of a session: delay, listeners, audio and text',
    method: 'GET',
    path: '/lives/:id/activity',
    params: pathId,
    response: { codec: single(activityView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: ActivityCalls) => {
    const activity = await calls.getActivity(caller, params.id)
    if (E.isLeft(activity)) return activity
    const { lag, listeners, senderConnected, audioSeconds, wrongSamples, segments, textUntil, ignored } = activity.right
    return E.right({
      data: {
        lag: lag === null ? null : roundToMs(lag),
        listeners,
        sender_connected: senderConnected,
        audio_seconds: roundToMs(audioSeconds),
        segments,
        wrong_samples: wrongSamples,
        text_until: textUntil,
        ignored,
      },
    })
  },
)

const getCapacity = privateRoute(
  'private',
  {
    operationId: 'getCapacity',
    summary: 'Get the free memory for sessions, and your quotas',
    method: 'GET',
    path: '/capacity',
    response: { codec: single(capacityView) },
    refusals: UNAVAILABLE,
  },
  async ({ caller }, calls: ActivityCalls) => {
    const capacity = calls.getCapacity(caller)
    return E.right({
      data: {
        vram_total: capacity.vramTotal,
        vram_reserved: capacity.vramReserved,
        vram_free: capacity.vramFree,
        open_sessions: capacity.openSessions,
        max_sessions: capacity.maxSessions,
        max_translations: capacity.maxTranslations,
      },
    })
  },
)

export const activityRoutes: ReadonlyArray<Route<ActivityCalls>> = [getActivity, getCapacity]
