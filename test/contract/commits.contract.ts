import type { ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { OUTRANKED, type Change, type Commit, type Documents } from '../../application/ports/documents.ts'
import { checkpointAt } from '../support/read-models/checkpoints.ts'
import { ids, MODEL, positionAt, put, remove } from './documents-support.ts'
import { right } from './event-store-support.ts'

const OTHER = { projection: 'other', collection: 'live-tokens' }

const commitOf = (whose: Commit['whose'], position: number, changes: ReadonlyArray<Change>, token = 0): Commit =>
  ({ whose, changes, checkpoint: checkpointAt(positionAt(position)), token })

type On = (title: string, body: (t: ExecutionContext, documents: Documents) => Promise<void>) => void

/** Tests commits of several read models that are made together. */
export const commitsContract = (on: On): void => {
  const positions = async (documents: Documents): Promise<ReadonlyArray<number>> =>
    await Promise.all([MODEL, OTHER].map(async (model) => Number((await right(documents.checkpoint(model))).position)))

  on('commits made together store the documents and the checkpoint of each', async (t, documents) => {
    t.deepEqual(await documents.commitAll([]), [])
    const lives = Array.from({ length: 1500 }, (_, n) => put(String(n), 3, { id: n }))
    for (const position of [3, 4])
      t.deepEqual(
        await documents.commitAll([
          commitOf(MODEL, position, lives),
          commitOf(OTHER, position + 5, [put('x', position, { hash: position }, 'live-tokens')]),
        ]),
        [E.right(undefined), E.right(undefined)],
      )
    t.is((await ids(documents, { limit: 2000 })).length, 1500)
    t.deepEqual(await right(documents.get('live-tokens', 'x')), O.some({ hash: 4 }))
    t.deepEqual(await positions(documents), [4, 9])
  })

  on('of commits made together, one without a lease or with an invalid document fails alone', async (t, documents) => {
    await right(documents.commit(MODEL, [], checkpointAt(positionAt(1)), 3))
    const outranked = await documents.commitAll([
      commitOf(MODEL, 2, [put('1', 2, { id: 1 })], 2),
      commitOf(OTHER, 2, [put('x', 2, { hash: 'h' }, 'live-tokens')], 1),
    ])
    t.deepEqual(outranked, [E.left(OUTRANKED), E.right(undefined)])
    t.deepEqual(await positions(documents), [1, 2])
    const [valid, invalid] = await documents.commitAll([
      commitOf(MODEL, 3, [put('3', 3, { id: 3 })], 3),
      commitOf(OTHER, 3, [put('y', 3, { id: 1n }, 'live-tokens')], 1),
    ])
    t.deepEqual(valid, E.right(undefined))
    t.like(invalid, { left: { _tag: 'DocumentsUnavailable' } })
    t.deepEqual(await positions(documents), [3, 2])
    t.true((await ids(documents, {})).includes(3))
  })

  on('what the writer knows of the stored position saves a read, and is never trusted', async (t, documents) => {
    const known = (change: Change, replaces: number | null): Change =>
      ({ ...change, replaces: replaces === null ? null : positionAt(replaces) })
    const store = async (...changes: ReadonlyArray<Change>): Promise<void> => {
      await right(documents.commit(MODEL, changes, checkpointAt(positionAt(0))))
    }
    const stored = async () => Object.fromEntries(await right(documents.find('lives', ['1', '2', '3', '4'])))
    await store(known(put('1', 5, { v: 5 }), null), known(put('2', 5, { v: 5 }), null))
    // True: 1 is at 5. Wrong: 2 exists, 3 does not exist.
    await store(known(put('1', 6, { v: 6 }), 5), known(put('2', 6, { v: 6 }), null), known(put('3', 6, { v: 6 }), 5))
    t.deepEqual(await stored(), { 1: { v: 6 }, 2: { v: 6 }, 3: { v: 6 } })
    // Wrong: 1 and 2 are newer, and 4 is new.
    await store(
      known(put('1', 4, { v: 4 }), 3), known(put('2', 6, { v: 'again' }), null), known(put('4', 1, { v: 1 }), null),
    )
    t.deepEqual(await stored(), { 1: { v: 6 }, 2: { v: 6 }, 3: { v: 6 }, 4: { v: 1 } })
    await store(known(remove('1', 7), 6), known(remove('4', 7), 9))
    await store(known(put('1', 6, { v: 6 }), null), known(put('4', 8, { v: 8 }), null))
    t.deepEqual(await stored(), { 2: { v: 6 }, 3: { v: 6 }, 4: { v: 8 } })
  })
}
