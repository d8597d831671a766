import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { getHistory } from '../../../../application/lives/queries/get-history.ts'
import { right } from '../../../support/tools/right.ts'
import { admitCommand, callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const owner = callerOf(1)
const ALL = { skip: 0, limit: 100 }
const url = 'rtsp://camera:hunter2@cams.example/stream?key=k1'

test('the history of a session is its stream, in order, with masked secrets', async (t) => {
  const side = await createWriteSide()
  const historyOf = getHistory(side.deps)
  const live = right(
    await side.createLive(owner, requestOf({ audioFormat: 'rtsp', audioUrl: url, listenerToken: 'hall' })),
  )
  right(await side.createLive(owner, requestOf()))
  right(await side.lifecycle.attachSender(1)())
  right(await side.finishLive(owner, 1))
  const { items, total } = right(await historyOf(owner, 1, ALL))
  t.is(total, 3)
  t.deepEqual(items.map(({ id, type }) => [id, type]), [[1, 'LiveCreated'], [2, 'SenderAttached'], [3, 'LiveFinished']])
  t.deepEqual(items.map(({ actor }) => actor.split(':')[0]), ['user', 'instance', 'user'])
  t.like(items[0]?.data, {
    audioUrl: 'rtsp://***@cams.example/stream?key=***',
    senderToken: '***',
    listenerToken: '***',
    vram: 1,
  })
  t.like(items[2]?.data, { reason: 'finish_route' })
  const json = JSON.stringify(items)
  for (const secret of ['hunter2', 'k1"', live.senderToken, 'hall', 'Hash', 'commandId'])
    t.false(json.includes(secret), secret)
  t.is(right(await historyOf(owner, 2, ALL)).items[0]?.data['audioUrl'], null)
})

test('each page of a history states the total length', async (t) => {
  const side = await createWriteSide()
  const historyOf = getHistory(side.deps)
  right(await side.createLive(owner, requestOf()))
  right(await side.lifecycle.startLive(1))
  right(await side.finishLive(owner, 1))
  const page = async (skip: number, limit: number) => {
    const { items, total } = right(await historyOf(owner, 1, { skip, limit }))
    return [items.map(({ id }) => id), total]
  }
  t.deepEqual(await page(0, 2), [[1, 2], 3])
  t.deepEqual(await page(2, 2), [[3], 3])
  t.deepEqual(await page(3, 2), [[], 3])
})

test("there is no history of another user's, a deleted or a fenced session", async (t) => {
  const { deleteLive, createLive, deps, admission, reconcile } = await createWriteSide()
  const historyOf = getHistory(deps)
  right(await createLive(owner, requestOf()))
  const admit = admitCommand({ commandId: 'c', instance: 'dead' })
  right(await admission.send({ command: admit, commandId: 'c', correlationId: 'c', actor: 'user:1' }))
  right(await reconcile())
  const unknown = E.left({ _tag: 'LiveNotFound' } as const)
  t.deepEqual(await historyOf(callerOf(2), 1, ALL), unknown)
  t.deepEqual(await historyOf(owner, 2, ALL), unknown)
  right(await deleteLive(owner, 1))
  t.deepEqual(await historyOf(owner, 1, ALL), unknown)
})
