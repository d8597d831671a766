import test from 'ava'
import { loadLive } from '../../../../application/lives/load-live.ts'
import { getHistory } from '../../../../application/lives/queries/get-history.ts'
import { takeOver } from '../../../../application/lives/ownership/take-over.ts'
import { right } from '../../../support/tools/right.ts'
import { callerOf, createWriteSide, requestOf } from '../../../support/worlds/write-side.ts'

const owner = callerOf(1)
const INITIAL = { prompt: 'Zebra crossing', hotwords: ['Okapi', 'Quagga'] }
const CHANGED = { prompt: 'Zebra crossing', hotwords: ['Gerenuk'] }

test('a vocabulary is encrypted, shown to its owner and masked in the history', async (t) => {
  const side = await createWriteSide()
  const created = right(await side.createLive(owner, requestOf({ vocabulary: INITIAL })))
  t.deepEqual(created.vocabulary, INITIAL)
  right(await side.lifecycle.changeVocabulary(1, { vocabulary: CHANGED, term: 1 })())
  right(await side.lifecycle.changeVocabulary(1, { vocabulary: CHANGED, term: 1 })())
  t.deepEqual(side.typesOf('live-1'), ['LiveCreated', 'VocabularyChanged'])
  const stored = right(await side.store.read('live-1'))
  for (const secret of ['Zebra', 'Okapi', 'Gerenuk']) t.false(JSON.stringify(stored).includes(secret))
  t.like(right(await loadLive(side.deps, 1)).state, { vocabulary: CHANGED })
  const { items } = right(await getHistory(side.deps)(owner, 1, { skip: 0, limit: 10 }))
  t.deepEqual(items.map(({ data }) => data['vocabulary']), ['***', '***'])
})

test('the next worker of a session uses the same vocabulary; an older term cannot change it', async (t) => {
  const side = await createWriteSide()
  right(await side.createLive(owner, requestOf({ vocabulary: INITIAL })))
  right(await side.lifecycle.changeVocabulary(1, { vocabulary: CHANGED, term: 1 })())
  t.deepEqual(right(await takeOver(side.deps)(1, 2)).state.vocabulary, CHANGED)
  t.like(await side.lifecycle.changeVocabulary(1, { vocabulary: INITIAL, term: 1 })(), { left: { _tag: 'Superseded' } })
})

test('the deletion of a session erases its vocabulary', async (t) => {
  const side = await createWriteSide()
  right(await side.createLive(owner, requestOf({ vocabulary: INITIAL })))
  right(await side.lifecycle.changeVocabulary(1, { vocabulary: CHANGED, term: 1 })())
  right(await side.deleteLive(owner, 1))
  t.like(right(await loadLive(side.deps, 1, 1)).state, { status: 'pending', vocabulary: {} })
})

test('a session without a vocabulary has no vocabulary member, also in the log', async (t) => {
  const side = await createWriteSide()
  const created = right(await side.createLive(owner, requestOf()))
  const [first] = right(await side.store.read('live-1'))
  for (const members of [created, first?.data as object]) t.false('vocabulary' in members)
})
