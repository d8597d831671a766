import type { Collection, Db } from 'mongodb'
import { type CollectionSpec, MOVED } from '../../application/ports/documents.ts'
import type { MongoConnection } from './connection.ts'
import { checkUpserted, retryUpsert, type StoredDocument } from './guarded-writes.ts'

const COLLECTION = /^[a-zA-Z][a-zA-Z0-9_-]*$/
const MEMBER = /^[a-zA-Z]+$/

/** Maps a name of the port to a collection of the server, `<base>_v<version>`. */
interface Pointer {
  readonly _id: string
  readonly version: number
  /** The name under which the collection was created, if it is not the name of the pointer. */
  readonly base?: string | null
  /** The previous collection. Readers may still use it, so the next `ensure` drops it. */
  readonly retired?: string
}

/** A pointer is read again after this time, so every process sees a replaced read model within this time. */
const POINTER_MS = 1000
/** Returns the path of a top-level member of a document. Throws a TypeError on an invalid name. */
export const pathOf = (member: string): string => {
  if (!MEMBER.test(member)) throw new TypeError(`"${member}" is not a valid name of a member`)
  return `body.${member}`
}

const checked = (name: string): string => {
  if (!COLLECTION.test(name)) throw new TypeError(`"${name}" is not a valid name of a collection`)
  return name
}

export type CollectionsConnection = Pick<MongoConnection, 'readModels' | 'maintenance' | 'limitMs'>

/** The collections of the port. The name `lives` stands for `lives_v<n>`; its pointer in `collections` contains n. */
export interface Collections {
  /** Returns the collection in use. Throws synchronously on an invalid name. */
  readonly current: (name: string) => Promise<Collection<StoredDocument>>
  /** Creates the collection and its indexes. Returns the server's name of the collection. */
  readonly ensure: (spec: CollectionSpec) => Promise<string>
  /** Assigns an empty collection to the name and drops the previous one. */
  readonly renew: (name: string) => Promise<void>
  /**
   * Assigns the collection of `from` to `to`, and an empty collection to `from`. An interrupted flip can be repeated.
   * `places` are the server's names of both collections, as the caller knows them. Throws when the names have changed.
   */
  readonly flip: (from: string, to: string, places?: readonly [from: string, to: string]) => Promise<void>
}

const collectionOf = (name: string, pointer: Pick<Pointer, 'version' | 'base'> | null): string =>
  `${pointer?.base ?? name}_v${pointer?.version ?? 1}`

/**
 * Creates the collections. A rebuild fills a collection under another name. Then one write of a pointer replaces the
 * read model in use, together with its checkpoint. (A rename would not be atomic for all clients.) A writer that does
 * not know the new pointer yet writes documents and checkpoint to the old collection.
 *
 * When the collection of a name was moved or dropped, the name gets the next version. So two names never share a
 * collection.
 */
export const createCollections = ({ readModels, maintenance, limitMs }: CollectionsConnection): Collections => {
  const pointersIn = (database: Db) => database.collection<Pointer>('collections')
  const [pointers, maintained] = [pointersIn(readModels), pointersIn(maintenance)]
  /** The server's names of collections, each with the time until which it is used without another read. */
  const known = new Map<string, { readonly collection: Promise<string>; readonly until: number }>()

  /**
   * Reads or creates a pointer with a write, so a majority confirms that it is the latest. An outdated pointer from a
   * deposed primary could make two names share a collection.
   */
  const confirmedPointer = async (name: string): Promise<Pointer> => {
    const first = { $setOnInsert: { version: 1 } }
    const options = { upsert: true, returnDocument: 'after' } as const
    const pointer = await retryUpsert(() => maintained.findOneAndUpdate({ _id: checked(name) }, first, options))
    if (pointer === null) throw new Error(`the server did not create the pointer of ${name}`)
    return pointer
  }

  const write = async (name: string, members: Omit<Pointer, '_id'>): Promise<void> => {
    checkUpserted(await maintained.updateOne({ _id: name }, { $set: members }, { upsert: true }))
    known.delete(name)
  }

  const nameOf = (name: string): Promise<string> => {
    const pointer = known.get(name)
    if (pointer !== undefined && performance.now() < pointer.until) return pointer.collection
    const collection = pointers.findOne({ _id: name }, { maxTimeMS: limitMs }).then((read) => collectionOf(name, read))
    known.set(name, { collection, until: performance.now() + POINTER_MS })
    collection.catch(() => known.delete(name))
    return collection
  }

  const current: Collections['current'] = (name) =>
    nameOf(checked(name)).then((collection) => readModels.collection<StoredDocument>(collection))

  const dropRetired = async ({ _id, retired }: Pointer): Promise<void> => {
    if (retired === undefined) return
    await maintenance.collection(retired).drop()
    await maintained.updateOne({ _id }, { $unset: { retired: true } })
  }

  /** Whether another name uses the collection, too: a flip was interrupted between its two writes. */
  const hasOtherName = async (name: string, pointer: Pointer): Promise<boolean> => {
    const { version, base = name } = pointer
    return (await maintained.findOne({ _id: { $ne: name }, base, version })) !== null
  }

  /** Assigns the next version to the name. No name uses the collection of that version. */
  const useNextVersion = (name: string, { version }: Pointer): Promise<void> =>
    write(name, { version: version + 1, base: name })

  return {
    current,
    ensure: async ({ name, indexes }) => {
      const pointer = await confirmedPointer(name)
      await dropRetired(pointer)
      const collection = maintenance.collection<StoredDocument>(collectionOf(name, pointer))
      for (const members of indexes) {
        const keys = [...members.map(pathOf), '_id'].map((path): [string, 1] => [path, 1])
        await collection.createIndex(keys, { name: `by_${members.join('_')}` })
      }
      return collection.collectionName
    },
    renew: async (name) => {
      const pointer = await confirmedPointer(name)
      await dropRetired(pointer)
      await useNextVersion(name, pointer)
      if (!(await hasOtherName(name, pointer))) await maintenance.collection(collectionOf(name, pointer)).drop()
    },
    flip: async (from, to, places) => {
      const [staged, inUse] = [await confirmedPointer(from), await confirmedPointer(to)]
      const [built, former] = [collectionOf(from, staged), collectionOf(to, inUse)]
      if (places !== undefined && former === places[0] && built !== places[0]) return
      if (built !== former) {
        if (places !== undefined && (built !== places[0] || former !== places[1])) throw new Error(MOVED.reason)
        await dropRetired(inUse)
        const { version, base = null } = inUse
        const next = { version: staged.version, base: staged.base ?? from, retired: former }
        const { matchedCount } = await maintained.updateOne({ _id: to, version, base }, { $set: next })
        known.delete(to)
        if (matchedCount !== 1) throw new Error(MOVED.reason)
      }
      await useNextVersion(from, staged)
    },
  }
}
