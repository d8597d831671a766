import type { Collection, Db } from 'mongodb'
import type { CollectionSpec, Document } from '../../application/ports/documents.ts'
import type { Position } from '../../application/ports/event-store.ts'

const COLLECTION = /^[a-zA-Z][a-zA-Z0-9_-]*$/
const MEMBER = /^[a-zA-Z]+$/

/** A document of the port as it is stored. */
export interface StoredDocument {
  readonly _id: string
  /** Of the change that wrote it. */
  readonly v: Position
  /** Null for a removed document: its position still guards it. */
  readonly body: Document | null
}

interface Pointer {
  readonly _id: string
  readonly version: number
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
}

/**
 * A rebuilt read model is made beside the one in use, under the next version, and becomes the one in use by a single write
 * of its pointer: a rename would not be seen at one moment by all. Whoever flips must be the only writer of the collection.
 */
export const createCollections = (database: Db): Collections => {
  const pointers = database.collection<Pointer>('collections')
  const known = new Map<string, { readonly version: Promise<number>; readonly until: number }>()

  const read = async (name: string): Promise<number> => (await pointers.findOne({ _id: name }))?.version ?? 1

  const versionOf = (name: string): Promise<number> => {
    const pointer = known.get(name)
    if (pointer !== undefined && performance.now() < pointer.until) return pointer.version
    const version = read(name)
    known.set(name, { version, until: performance.now() + POINTER_MS })
    version.catch(() => known.delete(name))
    return version
  }

  const current: Collections['current'] = (name) =>
    versionOf(checked(name)).then((version) => database.collection<StoredDocument>(`${name}_v${version}`))

  return {
    current,
    ensure: async ({ name, indexes }) => {
      await pointers.updateOne({ _id: checked(name) }, { $setOnInsert: { version: 1 } }, { upsert: true })
      const collection = await current(name)
      for (const members of indexes) {
        const keys = [...members.map(pathOf), '_id'].map((path): [string, 1] => [path, 1])
        await collection.createIndex(keys, { name: `by_${members.join('_')}` })
      }
    },
  }
}
