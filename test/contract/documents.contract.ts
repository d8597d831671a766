import test, { type ExecutionContext, type SerialFn } from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import type { Change, Document, Documents, PageRequest } from '../../application/ports/documents.ts'
import { BEGINNING, type Position } from '../../application/ports/event-store.ts'
import { right } from './event-store-support.ts'
import { checkpointAt, duty } from '../support/read-models/checkpoints.ts'
import { tokensContract } from './tokens.contract.ts'

export interface OpenedDocuments {
  readonly documents: Documents
  readonly close: () => Promise<void>
}

const at = (n: number): Position => String(n).padStart(20, '0') as Position

const put = (id: string, position: number, document: Document, collection = 'lives'): Change =>
  ({ kind: 'put', collection, id, document, position: at(position) })

const remove = (id: string, position: number): Change => ({
  kind: 'remove',
  collection: 'lives',
  id,
  position: at(position),
})

const everything: PageRequest = { filter: {}, sort: { by: 'id', direction: 'ascending' }, skip: 0, limit: 100 }

const MODEL = { projection: 'projection', collection: 'lives' }
const STAGED = { projection: 'staged', collection: 'lives_rebuild' }
const OTHER = { projection: 'other', collection: 'live-tokens' }
const LIVES = { name: 'lives', indexes: [['userId', 'id'], ['userId', 'status', 'id'], ['id']] }

/** What every store of read models does, each of its tests on a store of its own. */
export const documentsContract = (name: string, open: () => Promise<OpenedDocuments>, run: SerialFn | typeof test = test): void => {
  const on = (title: string, body: (t: ExecutionContext, documents: Documents) => Promise<void>): void => {
    run(`${name}: ${title}`, async (t) => {
      const { documents, close } = await open()
      try {
        await right(documents.ensure([LIVES, { name: 'live-tokens', indexes: [] }]))
        await body(t, documents)
      } finally {
        await close()
      }
    })
  }
  const commit = (documents: Documents, changes: ReadonlyArray<Change>, checkpoint = 0): Promise<void> =>
    right(documents.commit(MODEL, changes, checkpointAt(at(checkpoint))))
  const get = async (documents: Documents, id: string): Promise<Document | undefined> =>
    O.toUndefined(await right(documents.get('lives', id)))
  const scan = (documents: Documents, after: string | null) => right(documents.scan('lives', after, 3))
  const ids = async (documents: Documents, request: Partial<PageRequest>): Promise<ReadonlyArray<unknown>> =>
    (await right(documents.page('lives', { ...everything, ...request }))).map((document) => document['id'])

  on('nothing is there at first', async (t, documents) => {
    t.deepEqual(await right(documents.checkpoint(MODEL)), checkpointAt(BEGINNING))
    t.deepEqual([await get(documents, '1'), await ids(documents, {})], [undefined, []])
  })

  on('a document reads as it was put, at once', async (t, documents) => {
    const document = {
      id: 1,
      text: 'Größe 🎙 " \u2028',
      nested: { list: [1, { a: null }] },
      flag: false,
      none: null,
      half: 0.5,
    }
    await commit(documents, [put('1', 1, document)], 1)
    t.deepEqual(await get(documents, '1'), document)
    t.is((await right(documents.checkpoint(MODEL))).position, at(1))
  })

  on('a later put replaces the whole document', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1, a: 1 })])
    await commit(documents, [put('1', 2, { id: 1, b: 2 })])
    t.deepEqual(await get(documents, '1'), { id: 1, b: 2 })
  })

  on('an older position, or the same one, never wins', async (t, documents) => {
    await commit(documents, [put('1', 5, { id: 1, v: 5 })])
    await commit(documents, [put('1', 4, { id: 1, v: 4 }), put('1', 5, { id: 1, v: 'again' }), remove('1', 3)])
    t.deepEqual(await get(documents, '1'), { id: 1, v: 5 })
  })

  on('a removed document stays removed for what is older, and can be put anew', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 }), put('2', 1, { id: 2 })])
    await commit(documents, [remove('1', 5), remove('3', 5)])
    await commit(documents, [put('1', 4, { id: 1 }), put('3', 4, { id: 3 })])
    t.is(await get(documents, '1'), undefined)
    t.deepEqual(await ids(documents, {}), [2])
    await commit(documents, [put('1', 6, { id: 1, v: 6 })])
    t.deepEqual(await get(documents, '1'), { id: 1, v: 6 })
  })

  on('repeating a commit changes nothing, and the checkpoint never goes back [F5]', async (t, documents) => {
    const changes = [put('1', 1, { id: 1, v: 1 }), put('1', 2, { id: 1, v: 2 }), remove('2', 3)]
    await commit(documents, changes, 3)
    await commit(documents, [put('1', 4, { id: 1, v: 4 })], 4)
    await commit(documents, changes, 3)
    t.deepEqual(await get(documents, '1'), { id: 1, v: 4 })
    t.is((await right(documents.checkpoint(MODEL))).position, at(4))
  })

  on(
    'each checkpoint names the last event that was considered, and only a later one takes its place',
    async (t, documents) => {
      const reached = (n: number) => ({ position: at(n), last: { stream: 'live-1', revision: n, id: `id ${n}` } })
      for (const whose of [MODEL, duty('chore')]) {
        for (const position of [3, 5, 4, 5]) await right(documents.commit(whose, [], reached(position)))
        t.deepEqual(await right(documents.checkpoint(whose)), reached(5))
      }
    },
  )

  tokensContract(on)

  on('collections are apart', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 }), put('1', 1, { hash: 'h' }, 'live-tokens')])
    t.deepEqual(await get(documents, '1'), { id: 1 })
    t.deepEqual(await right(documents.get('live-tokens', '1')), O.some({ hash: 'h' }))
  })

  on('ensure can be repeated and keeps what is there', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 })])
    await right(documents.ensure([{ ...LIVES, indexes: [...LIVES.indexes, ['worker']] }]))
    t.deepEqual(await get(documents, '1'), { id: 1 })
  })

  on(
    'documents are found by any number of ids, those that are not there or were removed left out',
    async (t, documents) => {
      const find = async (wanted: ReadonlyArray<string>) =>
        Object.fromEntries(await right(documents.find('lives', wanted)))
      const all = Array.from({ length: 2500 }, (_, n) => String(n))
      await commit(
        documents,
        all.map((id, n) => put(id, 1, { id: n, text: 'Größe 🎙 "' })),
      )
      await commit(documents, [remove('7', 2), put('8', 2, { id: 8, v: 2 })])
      t.deepEqual(await find([]), {})
      t.deepEqual(await find(['7', '8', 'x', '1', '1', "' OR 1"]), {
        8: { id: 8, v: 2 },
        1: { id: 1, text: 'Größe 🎙 "' },
      })
      t.is(Object.keys(await find([...all, 'x'])).length, 2499)
      t.deepEqual(Object.fromEntries(await right(documents.find('live-tokens', ['1']))), {}, 'of this collection alone')
    },
  )

  on('pages are sorted, by numbers as numbers, in both directions', async (t, documents) => {
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

  on('pages of equal sort keys neither overlap nor leave out', async (t, documents) => {
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

  on('pages of a list of values are in order and whole, each document once', async (t, documents) => {
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

  on('filters compare top-level members, each of which may be a list', async (t, documents) => {
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

  on('a name that could be more than a name is a defect', async (t, documents) => {
    await t.throwsAsync(documents.page('lives', { ...everything, filter: { "id') OR 1=1 --": 1 } }))
    await t.throwsAsync(documents.page('lives', { ...everything, sort: { by: '$where', direction: 'ascending' } }))
    await t.throwsAsync(documents.page('lives"; DROP TABLE x', everything))
  })

  on(
    'a scan gives every document once, in the order of the bytes of the ids, removed ones left out',
    async (t, documents) => {
      const names = ['b', 'a', '10', '9', 'é', '🎙', '\uffee', 'gone']
      await commit(
        documents,
        names.map((id, n) => put(id, n + 1, { id, n })),
      )
      await commit(documents, [remove('gone', 20)])
      const scanned: Array<unknown> = []
      let after: string | null = null
      for (;;) {
        const some: Awaited<ReturnType<typeof scan>> = await scan(documents, after)
        if (some.length === 0) break
        scanned.push(...some.map(({ id, position, document }) => ({ id, position, document })))
        after = some.at(-1)?.id ?? null
      }
      const sorted = names
        .filter((id) => id !== 'gone')
        .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      t.deepEqual(
        scanned,
        sorted.map((id) => ({ id, position: at(names.indexOf(id) + 1), document: { id, n: names.indexOf(id) } })),
      )
    },
  )

  on('a discarded read model is as if it had never been, others stay', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 })], 5)
    await right(documents.commit(OTHER, [put('x', 1, { hash: 'h' }, 'live-tokens')], checkpointAt(at(4))))
    await right(documents.discard(MODEL))
    await right(documents.discard({ projection: 'nobody', collection: 'nothing' }))
    await right(documents.ensure([LIVES]))
    t.deepEqual(await right(documents.checkpoint(MODEL)), checkpointAt(BEGINNING))
    t.deepEqual(await ids(documents, {}), [])
    await commit(documents, [put('1', 1, { id: 'anew' })])
    t.deepEqual(await ids(documents, {}), ['anew'], 'no guard is left')
    t.is((await right(documents.checkpoint(OTHER))).position, at(4))
    await right(documents.commit(duty('chore'), [], checkpointAt(at(7))))
    await right(documents.discard(duty('chore')))
    t.is((await right(documents.checkpoint(duty('chore')))).position, BEGINNING)
    t.deepEqual(await right(documents.get('live-tokens', 'x')), O.some({ hash: 'h' }))
  })

  on('a promoted read model takes the place of the other, as often as one likes', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1, userId: 1 }), put('2', 9, { id: 2, userId: 1 })], 9)
    for (const version of [1, 2, 3]) {
      const staged = { ...LIVES, name: 'lives_rebuild' }
      await right(documents.ensure([staged]))
      await right(
        documents.commit(
          STAGED,
          [put('1', version, { id: 1, version, userId: 1 }, staged.name)],
          checkpointAt(at(version)),
        ),
      )
      await right(documents.promote(STAGED, MODEL))
      await right(documents.ensure([LIVES]))
      t.is((await right(documents.checkpoint(MODEL))).position, at(version))
      t.is((await right(documents.checkpoint(STAGED))).position, BEGINNING)
      t.deepEqual(await right(documents.page('lives', { ...everything, filter: { userId: 1 } })), [
        { id: 1, version, userId: 1 },
      ])
    }
    await commit(documents, [put('1', 3, { id: 1, version: 'late' }), put('2', 4, { id: 2 })], 4)
    t.deepEqual(await ids(documents, {}), [1, 2])
    t.is((await get(documents, '1'))?.['version'], 3, 'its positions guard it')
  })

  on('concurrent commits of different projections are all kept', async (t, documents) => {
    const commits = Array.from({ length: 100 }, (_, n) =>
      right(documents.commit(duty(`p${n % 4}`), [put(String(n), n + 1, { id: n })], checkpointAt(at(n + 1)))),
    )
    await Promise.all(commits)
    t.is((await ids(documents, {})).length, 100)
    t.is((await right(documents.checkpoint(duty('p3')))).position, at(100))
  })
}
