import type { Collection, Db } from 'mongodb'
import { MOVED } from '../../application/ports/documents.ts'
import type { CollectionSpec } from '../../application/ports/documents.ts'
import type { MongoConnection } from './connection.ts'
import { checkUpserted, despiteRaces } from './guarded-writes.ts'
import type { StoredDocument } from './guarded-writes.ts'

const COLLECTION = /^[a-zA-Z][a-zA-Z0-9_-]*$/
const MEMBER = /^[a-zA-Z]+$/

/** Which collection of the server is the one of a name of the port: `<base>_v<version>`. */
interface Pointer {
  readonly _id: string
  readonly version: number
  /** The name under which it was made, where that is another. */
  readonly base?: string | null
  /** What the pointer led to before; readers may still be at it, so it goes with the next `ensure`. */
  readonly retired?: string
}

/** Age at which a pointer is read again: a flipped read model shows within this time. */
const POINTER_MS = 1000
/** The path of a document's top-level member; throws on a name that is none. */
export const pathOf = (member: string): string => {
  if (!MEMBER.test(member)) throw new TypeError(`"${member}" cannot name a member to query by`)
  return `body.${member}`
}

const checked = (name: string): string => {
  if (!COLLECTION.test(name)) throw new TypeError(`"${name}" cannot name a collection`)
  return name
}

export type CollectionsConnection = Pick<MongoConnection, 'readModels' | 'maintenance' | 'limitMs'>

/** The collections behind the port's names: `lives` is `lives_v<n>`, and its document in `collections` says which n. */
export interface Collections {
  /** Throws, not rejects, on a name that is none. */
  readonly current: (name: string) => Promise<Collection<StoredDocument>>
  /** Answers the server's name of the collection. */
  readonly ensure: (spec: CollectionSpec) => Promise<string>
  /** From now on another, empty collection has the name; the one that had it is dropped. */
  readonly renew: (name: string) => Promise<void>
  /**
   * `to` names the collection that was `from`'s, whose name stands for another, empty one. Repeatable, wherever it broke
   * off; throws when somebody else has changed what `to` names, or either is not what `places` says.
   */
  readonly flip: (from: string, to: string, places?: readonly [from: string, to: string]) => Promise<void>
}

const collectionOf = (name: string, pointer: Pick<Pointer, 'version' | 'base'> | null): string =>
  `${pointer?.base ?? name}_v${pointer?.version ?? 1}`

/**
 * A rebuilt read model is made beside the one in use, under another name, and becomes the one in use by a single write of
 * its pointer, and its checkpoint with it: a rename would not be seen at one moment by all. What a writer that has not
 * seen it yet still writes, documents and checkpoint, goes to the one that was in use.
 * A name whose collection was given away or dropped goes on with the next version, so that no two names share one.
 */
export const createCollections = ({ readModels, maintenance, limitMs }: CollectionsConnection): Collections => {
  const pointersIn = (database: Db) => database.collection<Pointer>('collections')
  const [pointers, maintained] = [pointersIn(readModels), pointersIn(maintenance)]
  const known = new Map<string, { readonly collection: Promise<string>; readonly until: number }>()

  /**
   * The pointer that the next step builds on. A majority acknowledges that it is the latest: what a primary that has
   * been replaced still says could make two names share a collection.
   */
  const decided = async (name: string): Promise<Pointer> => {
    const first = { $setOnInsert: { version: 1 } }
    const options = { upsert: true, returnDocument: 'after' } as const
    const pointer = await despiteRaces(() => maintained.findOneAndUpdate({ _id: checked(name) }, first, options))
    if (pointer === null) throw new Error(`the server made no pointer of ${name}`)
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

  /** A flip that broke off between its two writes has left two names of one collection. */
  const isElsewhere = async (name: string, pointer: Pointer): Promise<boolean> => {
    const { version, base = name } = pointer
    return (await maintained.findOne({ _id: { $ne: name }, base, version })) !== null
  }

  /** The name goes on with another version, which nobody has used, or which is long dropped. */
  const leave = (name: string, { version }: Pointer): Promise<void> => write(name, { version: version + 1, base: name })

  return {
    current,
    ensure: async ({ name, indexes }) => {
      const pointer = await decided(name)
      await dropRetired(pointer)
      const collection = maintenance.collection<StoredDocument>(collectionOf(name, pointer))
      for (const members of indexes) {
        const keys = [...members.map(pathOf), '_id'].map((path): [string, 1] => [path, 1])
        await collection.createIndex(keys, { name: `by_${members.join('_')}` })
      }
      return collection.collectionName
    },
    renew: async (name) => {
      const pointer = await decided(name)
      await dropRetired(pointer)
      await leave(name, pointer)
      if (!(await isElsewhere(name, pointer))) await maintenance.collection(collectionOf(name, pointer)).drop()
    },
    flip: async (from, to, places) => {
      const [staged, inUse] = [await decided(from), await decided(to)]
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
      await leave(from, staged)
    },
  }
}
