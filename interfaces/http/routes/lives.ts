import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { CreateLiveOnce } from '../../../application/lives/commands/create-live-once.ts'
import type { DeleteLive } from '../../../application/lives/commands/delete-live.ts'
import type { FinishLive } from '../../../application/lives/commands/finish-live.ts'
import type { FinishLivesByAudioUrl } from '../../../application/lives/commands/finish-lives-by-audio-url.ts'
import type { Catalogue } from '../../../application/ports/catalogue.ts'
import type { LiveView } from '../../../application/ports/read-models.ts'
import type { GetLive, ListLives } from '../../../projections/lives/queries.ts'
import { createLiveBody, createLiveHeaders, createLiveRequest } from '../codecs/create-live-codec.ts'
import { UNAVAILABLE } from '../errors.ts'
import {
  list, listedLiveView, liveView, messageView, presentListedLive, presentLive, presentPage, single,
} from '../codecs/presenters.ts'
import { audioUrlBody, livesQuery, pageOf, pageQuery, pathId } from '../codecs/request-codecs.ts'
import { privateRoute, type Route } from '../route.ts'
import type { RequestFacts } from '../clients/request-facts.ts'

export interface LiveCalls {
  readonly catalogue: Catalogue
  readonly createLive: CreateLiveOnce
  readonly listLives: ListLives
  readonly getLive: GetLive
  readonly finishLive: FinishLive
  readonly finishLivesByAudioUrl: FinishLivesByAudioUrl
  readonly deleteLive: DeleteLive
}

const NOT_FOUND = E.left({ _tag: 'LiveNotFound' } as const)

/** True for an id that a session can have. Requests with other ids are refused before the store is read. */
const isPossible = (id: number): boolean => Number.isSafeInteger(id) && id > 0

const oneLive = (live: LiveView, facts: RequestFacts, { catalogue }: LiveCalls) =>
  ({ data: presentLive(live, catalogue, facts) })

const createLive = privateRoute(
  'private',
  {
    operationId: 'createLive',
    summary: 'Create a session and reserve its memory',
    method: 'POST',
    path: '/lives',
    headers: createLiveHeaders,
    body: { kind: 'json', codec: createLiveBody },
    response: { codec: single(liveView) },
    refusals: [
      'ModelNotFound', 'LanguageNotFound', 'LanguageNotSupported', 'TaskNotSupported', 'TranslationNotFound',
      'TooManyTranslations', 'ListenerTokenTaken', 'AudioUrlForbidden', 'SourcesNotIsolated', 'QuotaReached',
      'InsufficientVram', 'NoWorker', 'InsufficientCompute', 'LiveNotFound', 'IdempotencyKeyReused',
      'RequestStillRunning', 'TooManyRequests', ...UNAVAILABLE, 'ShuttingDown',
    ],
  },
  async ({ headers, body, caller, facts }, calls: LiveCalls) => {
    const created = await calls.createLive(caller, createLiveRequest(body), headers['idempotency-key'])
    return E.isLeft(created) ? created : E.right(oneLive(created.right, facts, calls))
  },
)

const listLives = privateRoute(
  'private',
  {
    operationId: 'listLives',
    summary: 'List your sessions, newest first',
    method: 'GET',
    path: '/lives',
    query: livesQuery,
    response: { codec: list(listedLiveView) },
    refusals: UNAVAILABLE,
  },
  async ({ query, caller, facts }, calls: LiveCalls) => {
    const page = pageOf(query)
    const lives = await calls.listLives(caller.userId, Array.from(new Set(query.status)), page)
    if (E.isLeft(lives)) return lives
    return E.right(await presentPage(lives.right, page, (live) => presentListedLive(live, calls.catalogue, facts)))
  },
)

const finishLivesByAudioUrl = privateRoute(
  'private',
  {
    operationId: 'finishLivesByAudioUrl',
    summary: 'Finish all your sessions with this audio URL',
    method: 'PUT',
    path: '/lives/finish-by-audio_url',
    isBudgeted: false,
    query: pageQuery,
    body: { kind: 'json', codec: audioUrlBody },
    response: { codec: list(listedLiveView) },
    refusals: UNAVAILABLE,
  },
  async ({ query, body, caller, facts }, calls: LiveCalls) => {
    const page = pageOf(query)
    const lives = await calls.finishLivesByAudioUrl(caller, body.audio_url, page)
    if (E.isLeft(lives)) return lives
    return E.right(await presentPage(lives.right, page, (live) => presentListedLive(live, calls.catalogue, facts)))
  },
)

const getLive = privateRoute(
  'private',
  {
    operationId: 'getLive',
    summary: 'Get one of your sessions',
    method: 'GET',
    path: '/lives/:id',
    params: pathId,
    response: { codec: single(liveView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, facts }, calls: LiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const live = await calls.getLive(caller.userId, params.id)
    if (E.isLeft(live)) return live
    return O.isNone(live.right) ? NOT_FOUND : E.right(oneLive(live.right.value, facts, calls))
  },
)

const finishLive = privateRoute(
  'private',
  {
    operationId: 'finishLive',
    summary: 'Finish one of your sessions',
    method: 'PUT',
    path: '/lives/:id/finish',
    isBudgeted: false,
    params: pathId,
    response: { codec: single(liveView) },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller, facts }, calls: LiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const live = await calls.finishLive(caller, params.id)
    return E.isLeft(live) ? live : E.right(oneLive(live.right, facts, calls))
  },
)

const deleteLive = privateRoute(
  'private',
  {
    operationId: 'deleteLive',
    summary: 'Delete one of your sessions: end it and make its personal data permanently unreadable',
    method: 'DELETE',
    path: '/lives/:id',
    params: pathId,
    response: { codec: messageView },
    refusals: ['LiveNotFound', ...UNAVAILABLE],
  },
  async ({ params, caller }, calls: LiveCalls) => {
    if (!isPossible(params.id)) return NOT_FOUND
    const deleted = await calls.deleteLive(caller, params.id)
    return E.isLeft(deleted) ? deleted : E.right({ message: 'Live deleted' })
  },
)

export const liveRoutes: ReadonlyArray<Route<LiveCalls>> =
  [createLive, listLives, finishLivesByAudioUrl, getLive, finishLive, deleteLive]
