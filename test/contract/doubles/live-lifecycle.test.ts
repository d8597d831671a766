import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { ResumePoint } from '../../../application/lives/queries/resume-point.ts'
import { liveLifecycle, type LiveLifecycle } from '../../../application/running/live-lifecycle.ts'
import { createMemoryLifecycle } from '../../support/doubles/memory/lifecycle.ts'
import { right, rightOf } from '../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf } from '../../support/worlds/write-side.ts'

interface Opened {
  readonly lifecycle: LiveLifecycle
  readonly live: { readonly id: number; readonly senderToken: string; readonly listenerToken: string }
  /** Brings the read models up to date. */
  readonly project: () => Promise<void>
}

const TERM = 1
const end = { term: TERM, cause: { status: 'finished', reason: 'finish_message' }, origin: null } as const

const segmentOf = (liveId: number, segment: number, translation?: string) => ({
  liveId, segment, start: segment, end: segment + 1, text: `text ${segment}`, term: TERM,
  kind: translation === undefined ? ('transcription' as const) : ('translation' as const),
  language: translation ?? 'en',
})

/** Reads all pages of the finals from `point` on, as `segment language`. */
const finalsFrom = async ({ lifecycle, live }: Opened, point: ResumePoint): Promise<ReadonlyArray<string>> => {
  const { next, wanted } = await rightOf(lifecycle.storedFinals(live.id, point))
  const finals: Array<string> = []
  for (let page = right(await next()); page !== null; page = right(await next()))
    finals.push(...page.filter(wanted).map(({ segment, language }) => `${segment} ${language}`))
  return finals
}

const lifecycleContract = (name: string, open: () => Promise<Opened>): void => {
  const on = (title: string, body: (t: ExecutionContext, opened: Opened) => Promise<void>): void => {
    test(`${name}: ${title}`, async (t) => body(t, await open()))
  }

  on('a token resolves to its session, role and status', async (t, { lifecycle, live, project }) => {
    const resolve = async (token: string, id: number | null = null) =>
      O.toNullable(await rightOf(lifecycle.resolveToken(token, id, () => true)))
    t.deepEqual(await resolve(live.senderToken), { liveId: live.id, role: 'sender', status: 'pending' })
    t.like(await resolve(live.listenerToken, live.id), { liveId: live.id, role: 'listener' })
    t.is(await resolve(live.senderToken, live.id + 1), null)
    t.is(await resolve('unknown'), null)

    await rightOf(lifecycle.startLive(live.id, TERM))
    await project()

    t.like(await resolve(live.senderToken), { status: 'active' })
  })

  on('each sender gets the next epoch and the start of the source', async (t, { lifecycle, live }) => {
    const first = await rightOf(lifecycle.admitSender(live.id))
    t.like(first.live, { term: TERM, status: 'pending', audioFormat: 'raw', language: 'en' })
    t.deepEqual(first.point, { sampleOffset: 0, nextSegment: 1, mediaSequence: null })
    t.is(await rightOf(first.record()), 1)
    await rightOf(lifecycle.detachSender(live.id, { term: TERM, epoch: 1 })())
    await rightOf(lifecycle.admitSender(live.id))
    t.is(await rightOf((await rightOf(lifecycle.admitSender(live.id))).record()), 2, 'only recorded senders count')
  })

  on('a new vocabulary replaces the earlier one', async (t, { lifecycle, live }) => {
    t.deepEqual((await rightOf(lifecycle.admitSender(live.id))).live.vocabulary, {})
    for (const prompt of ['first', 'second'])
      await rightOf(lifecycle.changeVocabulary(live.id, { vocabulary: { prompt }, term: TERM })())
    t.deepEqual((await rightOf(lifecycle.admitSender(live.id))).live.vocabulary, { prompt: 'second' })
  })

  on('after its end a session accepts no change, and a second end succeeds', async (t, { lifecycle, live }) => {
    const { record } = await rightOf(lifecycle.admitSender(live.id))
    await rightOf(lifecycle.startLive(live.id, TERM))
    await rightOf(lifecycle.endLive(live.id, end)())

    const source = { pid: 7, sampleOffset: 0, nextSegment: 1, mediaSequence: null, term: TERM }
    const refusals = [
      await lifecycle.admitSender(live.id),
      await record(),
      await lifecycle.startLive(live.id, TERM),
      await lifecycle.startSource(live.id, source)(),
      await lifecycle.changeVocabulary(live.id, { vocabulary: { prompt: 'x' }, term: TERM })(),
    ]

    for (const refusal of refusals) t.like(refusal, { left: { _tag: 'LiveOver' } })
    t.true(E.isRight(await lifecycle.endLive(live.id, end)()))
  })

  on('finals are stored in order; a read begins after a segment or returns the last finals', async (t, opened) => {
    const { lifecycle, live } = opened
    for (const segment of [1, 2, 3, 4]) {
      await rightOf(lifecycle.recordSegment(segmentOf(live.id, segment)))
      await rightOf(lifecycle.recordSegment(segmentOf(live.id, segment, 'es')))
    }
    const all = [1, 2, 3, 4].flatMap((segment) => [`${segment} en`, `${segment} es`])
    t.deepEqual(await finalsFrom(opened, { kind: 'after', segment: 0 }), all)
    t.deepEqual(await finalsFrom(opened, { kind: 'after', segment: 2 }), all.slice(3))
    t.deepEqual(await finalsFrom(opened, { kind: 'after', segment: 9 }), [])
    t.deepEqual(await finalsFrom(opened, { kind: 'last', count: 1 }), all.slice(6))
    t.deepEqual(await finalsFrom(opened, { kind: 'last', count: 3 }), all.slice(2))
    t.deepEqual(await finalsFrom(opened, { kind: 'last', count: 9 }), all)
  })

  on('a reader at the end gets the finals that are stored later', async (t, { lifecycle, live }) => {
    await rightOf(lifecycle.recordSegment(segmentOf(live.id, 1)))
    const { next } = await rightOf(lifecycle.storedFinals(live.id, { kind: 'after', segment: 0 }))
    while (right(await next()) !== null);
    await rightOf(lifecycle.recordSegment(segmentOf(live.id, 2)))
    t.deepEqual(right(await next())?.map(({ segment }) => segment).at(-1), 2)
  })
}

lifecycleContract('double', async () => {
  const lifecycle = createMemoryLifecycle()
  return { lifecycle, live: lifecycle.add(), project: () => Promise.resolve() }
})

lifecycleContract('write side', async () => {
  const side = await createWriteSide()
  const live = right(await side.createLive(callerOf(1), requestOf()))
  await side.project()
  return { lifecycle: liveLifecycle(side.deps), live, project: side.project }
})

test('while the double is unavailable every call fails', async (t) => {
  const lifecycle = createMemoryLifecycle()
  const { id, senderToken } = lifecycle.add()
  lifecycle.setUnavailable(true)
  t.like(await lifecycle.resolveToken(senderToken, null, () => true), { left: { _tag: 'DocumentsUnavailable' } })
  const calls = [
    () => lifecycle.admitSender(id), () => lifecycle.startLive(id, TERM), () => lifecycle.endLive(id, end)(),
    () => lifecycle.recordSegment(segmentOf(id, 1)), () => lifecycle.storedFinals(id, { kind: 'after', segment: 0 }),
  ]
  for (const call of calls) t.like(await call(), { left: { _tag: 'StoreUnavailable' } })
})
