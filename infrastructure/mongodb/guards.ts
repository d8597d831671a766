import type { Position } from '../../application/ports/event-store.ts'
import type { Guard } from '../store-rules/guard.ts'
import { type CollectionsConnection, createCollections } from './collections.ts'

interface StoredGuard {
  readonly _id: string
  readonly v: Position
  readonly token?: number
}

/** Yields the guards of all documents of these collections, also of removed documents, and of all checkpoints. */
export async function* mongoGuards(
  connection: CollectionsConnection, collections: ReadonlyArray<string>,
): AsyncGenerator<Guard> {
  const { current } = createCollections(connection)
  const options = { projection: { v: 1, token: 1 } }
  for (const name of collections)
    for await (const { _id, v } of (await current(name)).find({}, options))
      yield { where: `${name} ${_id}`, position: v, token: 0 }
  for await (const { _id, v, token } of connection.readModels.collection<StoredGuard>('checkpoints').find({}, options))
    yield { where: `checkpoint of ${_id}`, position: v, token: token ?? 0 }
}

/** Returns the highest token that a lease has given out. */
export const highestToken = async ({ readModels }: Pick<CollectionsConnection, 'readModels'>): Promise<number> => {
  const [newest] = await readModels.collection<StoredGuard>('leases').find().sort({ token: -1 }).limit(1).toArray()
  return newest?.token ?? 0
}
