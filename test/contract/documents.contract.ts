import test, { type ExecutionContext, type SerialFn } from 'ava'
import * as O from 'fp-ts/lib/Option.js'
import type { Document, Documents } from '../../application/ports/documents.ts'
import { BEGINNING } from '../../application/ports/event-store.ts'
import { commitsContract } from './commits.contract.ts'
import { pagesContract } from './document-pages.contract.ts'
import { positionAt, commit, everything, ids, MODEL, put, remove } from './documents-support.ts'
import { right } from './event-store-support.ts'
import { checkpointAt, duty } from '../support/read-models/checkpoints.ts'
import { tokensContract } from './tokens.contract.ts'

export interface OpenedDocuments {
  readonly documents: Documents
  readonly close: () => Promise<void>
}

const STAGED = { projection: 'staged', collection: 'lives_rebuild' }
const OTHER = { projection: 'other', collection: 'live-tokens' }
const LIVES = { name: 'lives', indexes: [['userId', 'id'], ['userId', 'status', 'id'], ['id']] }

/** Tests every store of read models. Each test opens its own store. */
export const documentsContract = (
  name: string,
  open: () => Promise<OpenedDocuments>,
  run: SerialFn | typeof test = test,
): void => {
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
  const get = async (documents: Documents, id: string): Promise<Document | undefined> =>
    O.toUndefined(await right(documents.get('lives', id)))
  const scan = (documents: Documents, after: string | null) => right(documents.scan('lives', after, 3))

  on('a new store is empty', async (t, documents) => {
    t.deepEqual(await right(documents.checkpoint(MODEL)), checkpointAt(BEGINNING))
    t.deepEqual([await get(documents, '1'), await ids(documents, {})], [undefined, []])
  })

  on('a document is readable right after its put', async (t, documents) => {
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
    t.is((await right(documents.checkpoint(MODEL))).position, positionAt(1))
  })

  on('a later put replaces the whole document', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1, a: 1 })])
    await commit(documents, [put('1', 2, { id: 1, b: 2 })])
    t.deepEqual(await get(documents, '1'), { id: 1, b: 2 })
  })

  on('a put at an equal or older position changes nothing', async (t, documents) => {
    await commit(documents, [put('1', 5, { id: 1, v: 5 })])
    await commit(documents, [put('1', 4, { id: 1, v: 4 }), put('1', 5, { id: 1, v: 'again' }), remove('1', 3)])
    t.deepEqual(await get(documents, '1'), { id: 1, v: 5 })
  })

  on('a removed document ignores older puts and accepts newer ones', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 }), put('2', 1, { id: 2 })])
    await commit(documents, [remove('1', 5), remove('3', 5)])
    await commit(documents, [put('1', 4, { id: 1 }), put('3', 4, { id: 3 })])
    t.is(await get(documents, '1'), undefined)
    t.deepEqual(await ids(documents, {}), [2])
    await commit(documents, [put('1', 6, { id: 1, v: 6 })])
    t.deepEqual(await get(documents, '1'), { id: 1, v: 6 })
  })

  on('repeating a commit changes nothing, and the checkpoint never goes back', async (t, documents) => {
    const changes = [put('1', 1, { id: 1, v: 1 }), put('1', 2, { id: 1, v: 2 }), remove('2', 3)]
    await commit(documents, changes, 3)
    await commit(documents, [put('1', 4, { id: 1, v: 4 })], 4)
    await commit(documents, changes, 3)
    t.deepEqual(await get(documents, '1'), { id: 1, v: 4 })
    t.is((await right(documents.checkpoint(MODEL))).position, positionAt(4))
  })

  on('a checkpoint names the last considered event, and only a later checkpoint replaces it', async (t, documents) => {
    const reached = (n: number) =>
      ({ position: positionAt(n), last: { stream: 'live-1', revision: n, id: `id ${n}` } })
    for (const model of [MODEL, duty('chore')]) {
      for (const position of [3, 5, 4, 5]) await right(documents.commit(model, [], reached(position)))
      t.deepEqual(await right(documents.checkpoint(model)), reached(5))
    }
  })

  tokensContract(on)

  commitsContract(on)

  on('collections are separate', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 }), put('1', 1, { hash: 'h' }, 'live-tokens')])
    t.deepEqual(await get(documents, '1'), { id: 1 })
    t.deepEqual(await right(documents.get('live-tokens', '1')), O.some({ hash: 'h' }))
  })

  on('ensure can be repeated and keeps existing documents', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 })])
    await right(documents.ensure([{ ...LIVES, indexes: [...LIVES.indexes, ['worker']] }]))
    t.deepEqual(await get(documents, '1'), { id: 1 })
  })

  on(
    'find returns documents for any number of ids and leaves out unknown and removed documents',
    async (t, documents) => {
      const find = async (wanted: ReadonlyArray<string>) =>
        Object.fromEntries(await right(documents.find('lives', wanted)))
      const all = Array.from({ length: 2500 }, (_, n) => String(n))
      await commit(documents, all.map((id, n) => put(id, 1, { id: n, text: 'Größe 🎙 "' })))
      await commit(documents, [remove('7', 2), put('8', 2, { id: 8, v: 2 })])
      t.deepEqual(await find([]), {})
      t.deepEqual(await find(['7', '8', 'x', '1', '1', "' OR 1"]), {
        8: { id: 8, v: 2 },
        1: { id: 1, text: 'Größe 🎙 "' },
      })
      t.is(Object.keys(await find([...all, 'x'])).length, 2499)
      t.deepEqual(
        Object.fromEntries(await right(documents.find('live-tokens', ['1']))),
        {},
        'only documents of this collection',
      )
    },
  )

  pagesContract(on)

  on('a scan returns each document once in byte order of the ids, without removed documents', async (t, documents) => {
    const names = ['b', 'a', '10', '9', 'é', '🎙', '\uffee', 'gone']
    await commit(documents, names.map((id, n) => put(id, n + 1, { id, n })))
    await commit(documents, [remove('gone', 20)])
    const scanned: Array<unknown> = []
    let after: string | null = null
    for (;;) {
      const batch: Awaited<ReturnType<typeof scan>> = await scan(documents, after)
      if (batch.length === 0) break
      scanned.push(...batch.map(({ id, position, document }) => ({ id, position, document })))
      after = batch.at(-1)?.id ?? null
    }
    const sorted = names
      .filter((id) => id !== 'gone')
      .toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    t.deepEqual(
      scanned,
      sorted.map((id) =>
        ({ id, position: positionAt(names.indexOf(id) + 1), document: { id, n: names.indexOf(id) } })),
    )
  })

  on('a discarded read model leaves no trace, and other read models stay', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1 })], 5)
    await right(documents.commit(OTHER, [put('x', 1, { hash: 'h' }, 'live-tokens')], checkpointAt(positionAt(4))))
    await right(documents.discard(MODEL))
    await right(documents.discard({ projection: 'nobody', collection: 'nothing' }))
    await right(documents.ensure([LIVES]))
    t.deepEqual(await right(documents.checkpoint(MODEL)), checkpointAt(BEGINNING))
    t.deepEqual(await ids(documents, {}), [])
    await commit(documents, [put('1', 1, { id: 'again' })])
    t.deepEqual(await ids(documents, {}), ['again'], 'no position guard remains')
    t.is((await right(documents.checkpoint(OTHER))).position, positionAt(4))
    await right(documents.commit(duty('chore'), [], checkpointAt(positionAt(7))))
    await right(documents.discard(duty('chore')))
    t.is((await right(documents.checkpoint(duty('chore')))).position, BEGINNING)
    t.deepEqual(await right(documents.get('live-tokens', 'x')), O.some({ hash: 'h' }))
  })

  on('a promoted read model replaces the read model in use, any number of times', async (t, documents) => {
    await commit(documents, [put('1', 1, { id: 1, userId: 1 }), put('2', 9, { id: 2, userId: 1 })], 9)
    for (const version of [1, 2, 3]) {
      const staged = { ...LIVES, name: 'lives_rebuild' }
      await right(documents.ensure([staged]))
      await right(
        documents.commit(
          STAGED,
          [put('1', version, { id: 1, version, userId: 1 }, staged.name)],
          checkpointAt(positionAt(version)),
        ),
      )
      await right(documents.promote(STAGED, MODEL))
      await right(documents.ensure([LIVES]))
      t.is((await right(documents.checkpoint(MODEL))).position, positionAt(version))
      t.is((await right(documents.checkpoint(STAGED))).position, BEGINNING)
      t.deepEqual(await right(documents.page('lives', { ...everything, filter: { userId: 1 } })), [
        { id: 1, version, userId: 1 },
      ])
    }
    await commit(documents, [put('1', 3, { id: 1, version: 'late' }), put('2', 4, { id: 2 })], 4)
    t.deepEqual(await ids(documents, {}), [1, 2])
    t.is((await get(documents, '1'))?.['version'], 3, 'the positions guard the promoted documents')
  })

  on('concurrent commits of different projections are all kept', async (t, documents) => {
    const commits = Array.from({ length: 100 }, (_, n) =>
      right(documents.commit(duty(`p${n % 4}`), [put(String(n), n + 1, { id: n })], checkpointAt(positionAt(n + 1)))),
    )
    await Promise.all(commits)
    t.is((await ids(documents, {})).length, 100)
    t.is((await right(documents.checkpoint(duty('p3')))).position, positionAt(100))
  })
}
