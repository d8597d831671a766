import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { BEGINNING, type Position } from '../../../application/ports/event-store.ts'
import { apiTokens } from '../../../projections/api-tokens/projection.ts'
import { catchingUpAfterStart, onceCurrent } from '../../../projections/once-current.ts'
import { tokenIdByPrefix } from '../../../projections/api-tokens/queries.ts'
import { modelOf } from '../../../projections/projection.ts'
import { users } from '../../../projections/users/projection.ts'
import { createMemoryDocuments } from '../../support/doubles/memory/documents.ts'
import { right } from '../../support/tools/right.ts'

test('documents are available once their projection has read the log', async (t) => {
  const all = createMemoryDocuments()
  right(await all.ensure([users.collection, apiTokens.collection]))
  let current: ReadonlyArray<string> = ['api-tokens']
  const lag = () =>
    ['users', 'api-tokens'].map((projection) => ({
      projection,
      position: BEGINNING,
      secondsBehind: 0,
      error: null,
      stuckAt: null,
      share: 0.36,
      failures: 0,
      rebuilding: false,
      isOwn: true,
      hasCaughtUp: current.includes(projection),
    }))
  const documents = onceCurrent(all, catchingUpAfterStart([users, apiTokens], { lag }))
  const page = { filter: {}, sort: { by: 'id', direction: 'ascending' }, skip: 0, limit: 1 } as const
  const reads = async (collection: string): Promise<ReadonlyArray<E.Either<unknown, unknown>>> =>
    Promise.all([documents.get(collection, '1'), documents.find(collection, ['1']), documents.page(collection, page)])
  t.deepEqual(await reads('api-tokens'), [E.right(O.none), E.right(new Map()), E.right([])])
  for (const read of await reads('users')) t.like(read, { left: { _tag: 'DocumentsUnavailable', share: 0.36 } })
  current = ['users']
  for (const collection of ['users', 'api-tokens']) for (const read of await reads(collection)) t.true(E.isRight(read))
  current = []
  for (const read of await reads('users')) t.true(E.isRight(read))
})

test('while the list is behind, a listed token is found and a query for another token fails', async (t) => {
  const documents = createMemoryDocuments()
  right(await documents.ensure([apiTokens.collection]))
  const put = {
    kind: 'put',
    collection: 'api-tokens',
    id: '7',
    document: { id: 7, prefix: 'lt_a' },
    position: '1' as Position,
  } as const
  right(await documents.commit(modelOf(apiTokens), [put], { position: put.position, last: null }))
  const unavailable = { _tag: 'DocumentsUnavailable', reason: 'behind' } as const
  let why: typeof unavailable | null = unavailable
  const find = tokenIdByPrefix({ documents, whyBehind: () => why })
  t.deepEqual(await find('lt_a'), E.right(O.some(7)))
  const search = find('lt_b')
  // The list catches up during the read, so the read may have seen the older list.
  why = null
  t.deepEqual(await search, E.left(unavailable))
  t.deepEqual(await find('lt_b'), E.right(O.none))
})
