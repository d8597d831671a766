import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { SESSION_LISTS } from '../../../../application/ports/projector.ts'
import { endInTerm } from '../../../../application/lives/ending.ts'
import { reservedVram } from '../../../../domain/admission/state.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'
import { right } from '../../../support/tools/right.ts'

const me = callerOf(1)
const page = { skip: 0, limit: 100 }
const urlRequest = (audioUrl: string) => requestOf({ audioFormat: 'hls', audioUrl })

test('only the owner finishes a session; any other session is not found', async (t) => {
  const { createLive, finishLive, typesOf } = await createWriteSide()
  const { id } = right(await createLive(me, requestOf()))
  for (const [caller, liveId] of [[callerOf(2), id], [me, 99], [me, 0], [me, -1]] as const) {
    t.deepEqual(await finishLive(caller, liveId), E.left({ _tag: 'LiveNotFound' }))
  }
  t.deepEqual(typesOf('live-1'), ['LiveCreated'])
})

test('finish flushes the audio and ends the session, then awaits the read models', async (t) => {
  const steps: Array<string> = []
  const side = await createWriteSide({
    endByWorker: async (liveId, { limitMs, cause, origin }) => {
      steps.push(`flush ${liveId} ${limitMs} ${side.typesOf('live-1').at(-1)}`)
      return { position: right(await endInTerm(side.deps, liveId, { cause, origin, term: 1 })) }
    },
    whenProjected: async (lists, position) => {
      t.deepEqual(lists, SESSION_LISTS)
      const seen = side.log().find((event) => event.position === position)
      steps.push(`${seen?.type} projected, ${reservedVram(side.admission.state())} MB reserved`)
    },
  })
  const { id } = right(await side.createLive(me, requestOf({ model: 'm4' })))
  const live = right(await side.finishLive(me, id))
  t.like(live, { id, status: 'finished', vram: 0 })
  t.not(live.updatedAt, null)
  t.deepEqual(steps, [
    'LiveCreated projected, 4 MB reserved',
    'flush 1 2000 LiveCreated',
    'LiveFinished projected, 0 MB reserved',
  ])

  const before = side.log().length
  t.deepEqual(right(await side.finishLive(me, id)), live)
  t.is(side.log().length, before)
})

test('all open sessions with exactly this URL end; pages list them newest first', async (t) => {
  const { createLive, finishLive, finishLivesByAudioUrl, admission } = await createWriteSide()
  const create = async (userId: number, url: string) => right(await createLive(callerOf(userId), urlRequest(url))).id
  const [ended, first, second, ofOtherUser, withSlash, withUpperCase] = [
    await create(1, 'http://h/a'),
    await create(1, 'http://h/a'),
    await create(1, 'http://h/a'),
    await create(2, 'http://h/a'),
    await create(1, 'http://h/a/'),
    await create(1, 'http://H/a'),
  ]
  right(await createLive(me, requestOf()))
  right(await finishLive(me, ended))

  const answer = right(await finishLivesByAudioUrl(me, 'http://h/a', { skip: 0, limit: 1 }))
  t.is(answer.total, 2)
  t.deepEqual(
    answer.items.map(({ id, status, vram }) => ({ id, status, vram })),
    [{ id: second, status: 'finished', vram: 0 }],
  )
  t.deepEqual(admission.state().open.map(({ liveId }) => liveId), [ofOtherUser, withSlash, withUpperCase, 7])
  t.is(first, second - 1)
  t.deepEqual(right(await finishLivesByAudioUrl(me, 'http://h/a', page)), { items: [], total: 0 })
})

test('with two simultaneous calls each session is in exactly one answer', async (t) => {
  const { createLive, finishLivesByAudioUrl } = await createWriteSide()
  for (let count = 0; count < 5; count++) right(await createLive(me, urlRequest('rtmp://h/a')))
  const answers = await Promise.all([1, 2].map(() => finishLivesByAudioUrl(me, 'rtmp://h/a', page)))
  const ids = answers.flatMap((answer) => right(answer).items.map(({ id }) => id))
  t.deepEqual(ids.toSorted((a, b) => a - b), [1, 2, 3, 4, 5])
})
