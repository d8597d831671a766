import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { CreateLiveRequest } from '../../../../application/lives/commands/requested-live.ts'
import { sendToSession } from '../../../../application/log/send-to.ts'
import { createLiveBody, createLiveRequest } from '../../../../interfaces/http/codecs/create-live-codec.ts'
import { admitCommand, callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'
import { createMemoryKeyring } from '../../../support/doubles/memory/keyring.ts'
import { right } from '../../../support/tools/right.ts'

const tagOf = (answer: E.Either<{ readonly _tag: string }, unknown>): string =>
  E.isLeft(answer) ? answer.left._tag : 'created'

test('of 50 simultaneous creates with room for one, one succeeds and 49 leave no trace', async (t) => {
  const { createLive, log } = await createWriteSide({ capacity: 4 })
  const create = (_: unknown, index: number) =>
    createLive(callerOf(index + 1), requestOf({ model: 'm4', listenerToken: `hall-${index}` }))
  const answers = await Promise.all(Array.from({ length: 50 }, create))
  t.is(answers.filter(E.isRight).length, 1)
  t.is(answers.filter((answer) => tagOf(answer) === 'InsufficientVram').length, 49)
  t.deepEqual(log().map(({ type }) => type), ['WorkerJoined', 'Admitted', 'ListenerTokenClaimed', 'LiveCreated'])
})

test('50 simultaneous creates with a quota of three give three sessions; an end allows another', async (t) => {
  const { createLive, finishLive } = await createWriteSide()
  const caller = callerOf(1, { maxSessions: 3 })
  const answers = await Promise.all(Array.from({ length: 50 }, () => createLive(caller, requestOf())))
  const created = answers.filter(E.isRight).map((answer) => answer.right.id)
  t.is(created.length, 3)
  t.deepEqual(await createLive(caller, requestOf()), E.left({ _tag: 'QuotaReached', maximum: 3 }))
  right(await finishLive(caller, created[0] ?? 0))
  t.is(tagOf(await createLive(caller, requestOf())), 'created')
})

test('refusals come in order: token, not found, quotas, memory', async (t) => {
  const { createLive } = await createWriteSide({ capacity: 1 })
  const withoutQuota = callerOf(2, { maxSessions: 0, maxTranslations: 0 })
  right(await createLive(callerOf(1), requestOf({ listenerToken: 'hall' })))
  const tags = async (changes: Partial<CreateLiveRequest>, caller = withoutQuota) =>
    tagOf(await createLive(caller, requestOf(changes)))

  t.is(await tags({ listenerToken: 'hall', model: 'unknown' }), 'ListenerTokenTaken')
  t.is(await tags({ model: 'unknown', language: 'xx', translations: ['xx'] }), 'ModelNotFound')
  t.is(await tags({ model: 'm5' }), 'ModelNotFound', 'an inactive model counts as unknown')
  t.is(await tags({ language: 'xx', translations: ['xx'] }), 'LanguageNotFound')
  t.is(await tags({ model: 'm2', language: 'fr', translations: ['xx'] }), 'LanguageNotSupported')
  t.is(await tags({ translations: ['es', 'xx'] }), 'TranslationNotFound')
  t.is(await tags({ translations: ['es'] }), 'TooManyTranslations')
  t.is(await tags({}), 'QuotaReached')
  t.is(await tags({}, callerOf(2)), 'InsufficientVram')
})

/** The request of a body whose further members have their defaults. */
const decoded = (body: object): CreateLiveRequest =>
  createLiveRequest(right(createLiveBody.decode({ model: 'm2', language: 'en', ...body })))

test('duplicate targets count once, for the limit and for the memory', async (t) => {
  const { createLive } = await createWriteSide()
  const request = decoded({ translations: ['de', 'es', 'de'] })
  const live = right(await createLive(callerOf(1, { maxTranslations: 2 }), request))
  t.deepEqual(live.translations.map(({ to }) => to), ['de', 'es'])
  t.is(live.vram, 4)
})

test('tokens have 256 random bits and are all different', async (t) => {
  const { createLive } = await createWriteSide()
  const lives = [right(await createLive(callerOf(1), requestOf())), right(await createLive(callerOf(1), requestOf()))]
  const tokens = lives.flatMap(({ senderToken, listenerToken }) => [senderToken, listenerToken])
  for (const token of tokens) t.regex(token, /^[A-Za-z0-9_-]{43}$/)
  t.is(new Set(tokens).size, 4)
})

test('retention needs the permission; a raw session has no URL and no auto_start', async (t) => {
  const { createLive } = await createWriteSide()
  const body = { live_retention: true, auto_start: true, audio_url: 'rtmp://ignored/' }
  const request = decoded(body)
  t.like(right(await createLive(callerOf(1), request)), {
    retention: false,
    autoStart: false,
    audioUrl: null,
    audioUrlHash: null,
  })
  const allowed = callerOf(1, { permissions: ['user_retention'] })
  t.true(right(await createLive(allowed, request)).retention)
  t.like(right(await createLive(allowed, decoded({ ...body, audio_format: 'rtmp' }))), {
    autoStart: true,
    audioUrl: 'rtmp://ignored/',
  })
})

test('a custom token belongs to its first user, who may use it again', async (t) => {
  const { createLive } = await createWriteSide()
  const request = requestOf({ listenerToken: 'hall' })
  t.is(right(await createLive(callerOf(1), request)).listenerToken, 'hall')
  t.is(tagOf(await createLive(callerOf(1), request)), 'created')
  t.is(tagOf(await createLive(callerOf(2), request)), 'ListenerTokenTaken')
})

test('a custom token may not equal a sender token', async (t) => {
  const { createLive, project } = await createWriteSide()
  const { senderToken } = right(await createLive(callerOf(1), requestOf()))
  await project()
  t.is(tagOf(await createLive(callerOf(1), requestOf({ listenerToken: senderToken }))), 'ListenerTokenTaken')
})

test('of two users who claim a new token one gets it; the session of the other is fenced', async (t) => {
  const { createLive, typesOf, admission } = await createWriteSide()
  const answers = await Promise.all(
    [1, 2].map((userId) => createLive(callerOf(userId), requestOf({ listenerToken: 'hall' }))),
  )
  t.deepEqual(answers.map(tagOf).toSorted(), ['ListenerTokenTaken', 'created'])
  t.deepEqual([...typesOf('live-1'), ...typesOf('live-2')].toSorted(), ['LiveAborted', 'LiveCreated'])
  t.is(admission.state().open.length, 1)
})

test('a repeated command returns its session; a fenced session is created again', async (t) => {
  const { createLive, log, admission, reconcile } = await createWriteSide()
  const first = right(await createLive(callerOf(1), requestOf(), 'command-1'))
  t.deepEqual(right(await createLive(callerOf(1), requestOf(), 'command-1')), first)

  const admit = admitCommand({ commandId: 'command-2', instance: 'dead' })
  right(await admission.send({ command: admit, commandId: 'command-2', correlationId: 'c', actor: 'user:1' }))
  right(await reconcile())
  t.is(right(await createLive(callerOf(1), requestOf(), 'command-2')).id, 3)
  t.is(log().filter(({ type }) => type === 'LiveCreated').length, 2)
})

test('a session that was fenced, but not released yet, is created again', async (t) => {
  const { createLive, admission, deps } = await createWriteSide()
  const admit = admitCommand({ commandId: 'command-1', instance: 'dead' })
  right(await admission.send({ command: admit, commandId: 'command-1', correlationId: 'c', actor: 'user:1' }))
  right(await sendToSession(deps)(1, { type: 'AbortLive', liveId: 1, userId: 1, reason: 'orphan' }))
  t.is(right(await createLive(callerOf(1), requestOf(), 'command-1')).id, 2)
})

test('a create without keyring reserves nothing, and its repeat creates another session', async (t) => {
  let isReachable = false
  const keyring = createMemoryKeyring(() => isReachable)
  const { createLive, admission, typesOf } = await createWriteSide({ keyring })
  const caller = callerOf(1, { maxSessions: 1 })
  t.is(tagOf(await createLive(caller, requestOf(), 'command-1')), 'KeyringUnavailable')
  t.is(admission.state().open.length, 0)
  t.deepEqual(typesOf('live-1'), ['LiveAborted'])
  isReachable = true
  t.is(right(await createLive(caller, requestOf(), 'command-1')).id, 2)
})

test('a session with language detection stores the source language of each pair', async (t) => {
  const { createLive, lifecycle } = await createWriteSide()
  const request = requestOf({ language: 'auto', translations: ['es'] })
  const created = right(await createLive(callerOf(1, { maxTranslations: 1 }), request))
  t.deepEqual(
    [created.language, created.translations],
    ['auto', [{ id: 1, model: 'mt-es', from: 'en', to: 'es', vram: 1 }]],
  )
  const attached = right(await lifecycle.admitSender(1)).live
  t.deepEqual(attached.translations, [{ model: 'mt-es', from: 'en', to: 'es' }])
  const inEnglish = right(await createLive(callerOf(1), requestOf({ translations: ['es'] })))
  t.deepEqual(
    inEnglish.translations,
    [{ id: 1, model: 'mt-es', to: 'es', vram: 1 }],
    'a given language stores no source language',
  )
  t.deepEqual(right(await lifecycle.admitSender(2)).live.translations, [{ model: 'mt-es', from: 'en', to: 'es' }])
})
