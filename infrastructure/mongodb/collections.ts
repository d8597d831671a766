import type { Collection, Db } from 'mongodb'
import type { CollectionSpec } from '../../application/ports/documents.ts'
import { checkUpserted } from './guarded-writes.ts'
import type { StoredDocument } from './guarded-writes.ts'

const COLLECTION = /^[a-zA-Z][a-zA-Z0-9_-]*$/
const MEMBER = /^[a-zA-Z]+$/

/** Which collection of the server is the one of a name of the port: `<base>_v<version>`. */
interface Pointer {
  readonly _id: string
  readonly version: number
  /** The name under which it was made, where that is another. */
  readonly base?: string
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

/** The collections behind the port's names: `lives` is `lives_v<n>`, and its document in `collections` says which n. */
export interface Collections {
  /** Throws, not rejects, on a name that is none. */
  readonly current: (name: string) => Promise<Collection<StoredDocument>>
  readonly ensure: (spec: CollectionSpec) => Promise<void>
  /** From now on another, empty collection has the name; answers how to drop the one that had it. */
  readonly renew: (name: string) => Promise<() => Promise<void>>
  /** `to` names the collection that was `from`'s, whose name stands for another, empty one. */
  readonly flip: (from: string, to: string) => Promise<void>
}

const collectionOf = (name: string, pointer: Pick<Pointer, 'version' | 'base'> | null): string =>
  `${pointer?.base ?? name}_v${pointer?.version ?? 1}`

/**
 * A rebuilt read model is made beside the one in use, under another name, and becomes the one in use by a single write of
 * its pointer: a rename would not be seen at one moment by all. Whoever flips must be the only writer of the collection.
 * A name whose collection was given away or dropped goes on with the next version, so that no two names share one.
 */
export const createCollections = (database: Db): Collections => {
  const pointers = database.collection<Pointer>('collections')
  const known = new Map<string, { readonly collection: Promise<string>; readonly until: number }>()

  const pointerOf = (name: string): Promise<Pointer | null> => pointers.findOne({ _id: checked(name) })

  const write = async (name: string, members: Omit<Pointer, '_id'>): Promise<void> => {
    checkUpserted(await pointers.updateOne({ _id: name }, { $set: members }, { upsert: true }))
    known.delete(name)
  }

  const nameOf = (name: string): Promise<string> => {
    const pointer = known.get(name)
    if (pointer !== undefined && performance.now() < pointer.until) return pointer.collection
    const collection = pointerOf(name).then((read) => collectionOf(name, read))
    known.set(name, { collection, until: performance.now() + POINTER_MS })
    collection.catch(() => known.delete(name))
    return collection
  }

  const current: Collections['current'] = (name) =>
    nameOf(checked(name)).then((collection) => database.collection<StoredDocument>(collection))

  const dropRetired = async ({ _id, retired }: Pointer): Promise<void> => {
    if (retired === undefined) return
    await database.collection(retired).drop()
    await pointers.updateOne({ _id }, { $unset: { retired: true } })
  }

  /** The name goes on with another version, which nobody has used, or which is long dropped. */
  const leave = (name: string, pointer: Pointer | null): Promise<void> =>
    write(name, { version: (pointer?.version ?? 1) + 1, base: name })

  return {
    current,
    ensure: async ({ name, indexes }) => {
      await pointers.updateOne({ _id: checked(name) }, { $setOnInsert: { version: 1 } }, { upsert: true })
      const pointer = await pointerOf(name)
      if (pointer !== null) await dropRetired(pointer)
      const collection = await current(name)
      for (const members of indexes) {
        const keys = [...members.map(pathOf), '_id'].map((path): [string, 1] => [path, 1])
        await collection.createIndex(keys, { name: `by_${members.join('_')}` })
      }
    },
    renew: async (name) => {
      const pointer = await pointerOf(name)
      if (pointer !== null) await dropRetired(pointer)
      await leave(name, pointer)
      return async () => {
        await database.collection(collectionOf(name, pointer)).drop()
      }
    },
    flip: async (from, to) => {
      const [staged, inUse] = [await pointerOf(from), await pointerOf(to)]
      if (inUse !== null) await dropRetired(inUse)
      // First: a name that still led to what is in use would drop it when it is discarded.
      await leave(from, staged)
      await write(to, { version: staged?.version ?? 1, base: staged?.base ?? from, retired: collectionOf(to, inUse) })
    },
  }
}
