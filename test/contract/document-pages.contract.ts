import type { ExecutionContext } from 'ava'
import type { Documents, PageRequest } from '../../application/ports/documents.ts'
import { commit, everything, ids, put, remove } from './documents-support.ts'
import { right } from './event-store-support.ts'

type On = (title: string, body: (t: ExecutionContext, documents: Documents) => Promise<void>) => void

/** Tests sorting, paging and filtering, for every store of read models. */
export const pagesContract = (on: On): void => {
  on('pages are sorted in both directions, and numbers sort as numbers', async (t, documents) => {
    await commit(documents, [10, 9, 100, 1, 2].map((id) => put(String(id), 1, { id })))
    t.deepEqual(await ids(documents, {}), [1, 2, 9, 10, 100])
    t.deepEqual(await ids(documents, { sort: { by: 'id', direction: 'descending' } }), [100, 10, 9, 2, 1])
    t.deepEqual(await ids(documents, { skip: 1, limit: 2 }), [2, 9])
    t.deepEqual(await ids(documents, { skip: 4, limit: 10 }), [100])
    t.deepEqual(await ids(documents, { skip: 5 }), [])
    t.deepEqual(await ids(documents, { limit: 0 }), [])
  })

  on('text sorts by its code points', async (t, documents) => {
    await commit(documents, ['b', 'B', 'é', 'a', 'ab', '🎙', '\uffee'].map((name) => put(name, 1, { id: name, name })))
    t.deepEqual(await ids(documents, { sort: { by: 'name', direction: 'ascending' } }), [
      'B',
      'a',
      'ab',
      'b',
      'é',
      '\uffee',
      '🎙',
    ])
  })

  on('pages with equal sort keys neither overlap nor skip documents', async (t, documents) => {
    await commit(documents, Array.from({ length: 23 }, (_, n) => put(`x${n}`, 1, { id: n, status: 'active' })))
    for (const direction of ['ascending', 'descending'] as const) {
      const pages = [0, 5, 10, 15, 20].map((skip) =>
        ids(documents, { sort: { by: 'status', direction }, skip, limit: 5 }),
      )
      const seen = (await Promise.all(pages)).flat()
      t.is(new Set(seen).size, 23)
      t.is(seen.length, 23)
    }
  })

  on('pages of a filter with several values are ordered and complete, without duplicates', async (t, documents) => {
    const statuses = ['pending', 'active', 'finished', null]
    await commit(
      documents,
      Array.from({ length: 40 }, (_, n) =>
        put(String(n), 1, { id: n, userId: 1 + (n % 5), status: statuses[n % 4] ?? null }),
      ),
    )
    await commit(documents, [remove('6', 2)])
    const filter = { userId: [1, 2, 3], status: ['active', null, 'finished', 'active'] }
    const expected = Array.from({ length: 40 }, (_, n) => n).filter((n) => n % 5 < 3 && n % 4 !== 0 && n !== 6)
    for (const direction of ['ascending', 'descending'] as const) {
      const pages = [0, 4, 8, 12, 16, 20].map((skip) =>
        ids(documents, { filter, sort: { by: 'id', direction }, skip, limit: 4 }),
      )
      t.deepEqual((await Promise.all(pages)).flat(), direction === 'ascending' ? expected : expected.toReversed())
    }
    const many = { userId: Array.from({ length: 100 }, (_, n) => n) }
    t.is((await ids(documents, { filter: many })).length, 39)
  })

  on('filters compare top-level members with a value or a list of values', async (t, documents) => {
    const lives = [
      { id: 1, userId: 1, status: 'pending', flag: true, note: null },
      { id: 2, userId: 1, status: 'active', flag: false, note: 'Größe\'"' },
      { id: 3, userId: 2, status: 'active', flag: true },
      { id: 4, userId: 1, status: 'finished', flag: true, note: '1' },
    ]
    await commit(documents, lives.map((live) => put(String(live.id), 1, live)))
    const found = (filter: PageRequest['filter']) => ids(documents, { filter })
    t.deepEqual(await found({ userId: 1 }), [1, 2, 4])
    t.deepEqual(await found({ userId: 1, status: ['pending', 'active'] }), [1, 2])
    t.deepEqual(await found({ status: [] }), [])
    t.deepEqual(await found({ userId: [1, 2], flag: true }), [1, 3, 4])
    t.deepEqual(await found({ flag: false }), [2])
    t.deepEqual(await found({ note: null }), [1, 3])
    t.deepEqual(await found({ note: [null, '1'] }), [1, 3, 4])
    t.deepEqual(await found({ note: 'Größe\'"' }), [2])
    t.deepEqual(await found({ userId: '1' }), [])
  })

  on('a name with characters outside the allowed set is rejected', async (t, documents) => {
    await t.throwsAsync(() => documents.page('lives', { ...everything, filter: { "id') OR 1=1 --": 1 } }))
    await t.throwsAsync(() =>
      documents.page('lives', { ...everything, sort: { by: '$where', direction: 'ascending' } }))
    await t.throwsAsync(() => documents.page('lives"; DROP TABLE x', everything))
  })

  on('a long page is complete and ordered, also with equal sort keys', async (t, documents) => {
    await commit(documents, Array.from({ length: 350 }, (_, n) => put(String(n), 1, { id: n, status: `s${n % 2}` })))
    const all = Array.from({ length: 350 }, (_, n) => n)
    t.deepEqual(await ids(documents, { limit: 1000 }), all)
    const filter = { status: ['s0', 's1'] }
    const descending = { filter, sort: { by: 'id', direction: 'descending' }, skip: 20, limit: 300 } as const
    t.deepEqual(await ids(documents, descending), all.toReversed().slice(20, 320))
    const equal = await ids(documents, { sort: { by: 'status', direction: 'ascending' }, limit: 350 })
    t.is(new Set(equal).size, 350)
  })

  on('a page leaves out the members that the caller does not need', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1, words: { list: ['a'] }, note: 'x' }), put('2', 1, { id: 2 })])
    const page = await right(documents.page('lives', { ...everything, without: ['words', 'note'] }))
    t.deepEqual(page, [{ id: 1 }, { id: 2 }])
    await t.throwsAsync(async () => documents.page('lives', { ...everything, without: ["a', 'b"] }), {
      instanceOf: TypeError,
    })
  })
}
