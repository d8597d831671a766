import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import { BEGINNING } from '../../application/ports/event-store.ts'
import { apiTokens } from '../../projections/api-tokens/projection.ts'
import { onceCurrent } from '../../projections/once-current.ts'
import { users } from '../../projections/users/projection.ts'
import { createMemoryDocuments } from '../support/memory-documents.ts'
import { right } from '../support/projecting.ts'

test('documents are not to be had before their projection has been through the log once, and then whatever it does', async (t) => {
  const all = createMemoryDocuments()
  right(await all.ensure([users.collection, apiTokens.collection])())
  let current: ReadonlyArray<string> = ['api-tokens']
  const lag = () =>
    ['users', 'api-tokens'].map((projection) => ({
      projection, position: BEGINNING, secondsBehind: 0, error: null, failures: 0, rebuilding: false,
      hasCaughtUp: current.includes(projection),
    }))
  const documents = onceCurrent(all, [users, apiTokens], { lag })
  const page = { filter: {}, sort: { by: 'id', direction: 'ascending' }, skip: 0, limit: 1 } as const
  const reads = async (collection: string): Promise<ReadonlyArray<E.Either<unknown, unknown>>> =>
    Promise.all([documents.get(collection, '1')(), documents.find(collection, ['1'])(), documents.page(collection, page)()])
  t.deepEqual(await reads('api-tokens'), [E.right(O.none), E.right(new Map()), E.right([])])
  for (const read of await reads('users')) t.like(read, { left: { _tag: 'DocumentsUnavailable' } })
  current = ['users']
  for (const collection of ['users', 'api-tokens']) for (const read of await reads(collection)) t.true(E.isRight(read))
  current = []
  for (const read of await reads('users')) t.true(E.isRight(read))
})
