import { fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { BSON } from 'mongodb'
import { ServerError } from './errors.ts'
import { compare, valueAt } from './match.ts'

export interface Index {
  readonly name: string
  readonly key: BSON.Document
  readonly unique: boolean
}

/** One thing that happened to the collection `of`. */
type Change =
  | { readonly of: string; readonly put: BSON.Document }
  | { readonly of: string; readonly remove: unknown }
  | { readonly of: string; readonly create: true }
  | { readonly of: string; readonly index: Index }
  | { readonly of: string; readonly dropped: string }
  | { readonly of: string; readonly drop: true }

/** The outcome of a retryable write, which a driver that has lost the answer asks for again. */
export interface Retryable {
  readonly session: string
  readonly number: number
  readonly reply: BSON.Document
}

interface Entry {
  readonly changes: ReadonlyArray<Change>
  readonly retryable: Retryable | null
}

interface Collection {
  readonly documents: Map<string, BSON.Document>
  readonly indexes: Map<string, Index>
}

type Collections = ReadonlyMap<string, Collection>

/** What the primary has, what most members have, what the secondary has that others may read. */
export type View = 'local' | 'majority' | 'secondary'

/** What every member had when the others last heard of the primary. */
interface Replicated {
  readonly collections: Collections
  readonly retryables: ReadonlyMap<string, Retryable>
  /** Length of the file. */
  readonly length: number
}

/** Where changes are kept, and how many bytes of them there are. */
interface Log {
  readonly length: () => number
  readonly write: (bytes: Uint8Array) => void
  readonly truncate: (length: number) => void
}

/** What is in the kernel's hands survives a kill -9. */
const fileLog = (descriptor: number): Log => ({
  length: () => fstatSync(descriptor).size,
  write: (bytes) => void writeSync(descriptor, bytes),
  truncate: (length) => ftruncateSync(descriptor, length),
})

const countingLog = (start: number): Log => {
  let length = start
  return {
    length: () => length,
    write: (bytes) => void (length += bytes.length),
    truncate: (to) => void (length = to),
  }
}

const ID_INDEX: Index = { name: '_id_', key: { _id: 1 }, unique: true }

const keyOf = (id: unknown): string =>
  typeof id === 'string' ? id : Buffer.from(BSON.serialize({ id })).toString('latin1')

const shown = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : JSON.stringify(value))

const copyOf = (collections: Collections): Map<string, Collection> =>
  new Map([...collections].map(([name, { documents, indexes }]) =>
    [name, { documents: new Map(documents), indexes: new Map(indexes) }]))

/** Collections in memory, by `database.collection`; each command's changes are in the log before it is answered. */
const createStorage = (
  collections: Map<string, Collection>, retryables: Map<string, Retryable>, log: Log, alone: Replicated | null = null,
) => {
  let replicated = alone
  let lagging: Collections | null = null
  let changes: Array<Change> = []

  const made = (name: string): Collection => {
    const collection = collections.get(name) ?? { documents: new Map(), indexes: new Map([[ID_INDEX.name, ID_INDEX]]) }
    collections.set(name, collection)
    return collection
  }

  const apply = (change: Change): void => {
    if ('put' in change) made(change.of).documents.set(keyOf(change.put['_id']), change.put)
    else if ('remove' in change) made(change.of).documents.delete(keyOf(change.remove))
    else if ('index' in change) made(change.of).indexes.set(change.index.name, change.index)
    else if ('dropped' in change) made(change.of).indexes.delete(change.dropped)
    else if ('create' in change) made(change.of)
    else collections.delete(change.of)
  }

  const record = (change: Change): void => {
    apply(change)
    changes.push(change)
  }

  /** Takes over what is in a log; answers where its last whole entry ends. */
  const load = (bytes: Buffer): number => {
    let offset = 0
    while (offset + 4 <= bytes.length && offset + bytes.readInt32LE(offset) <= bytes.length) {
      const end = offset + bytes.readInt32LE(offset)
      const entry = BSON.deserialize(bytes.subarray(offset, end)) as Entry
      entry.changes.forEach(apply)
      if (entry.retryable !== null) retryables.set(entry.retryable.session, entry.retryable)
      offset = end
    }
    return offset
  }

  const seen = (view: View): Collections => {
    const ofMost = replicated?.collections ?? collections
    return { local: collections, majority: ofMost, secondary: lagging ?? ofMost }[view]
  }

  const copied = (): Replicated =>
    ({ collections: copyOf(collections), retryables: new Map(retryables), length: log.length() })

  const checkUnique = (of: string, { name, key }: Index, document: BSON.Document): void => {
    const paths = Object.keys(key)
    const isSame = (other: BSON.Document): boolean =>
      compare(other['_id'], document['_id']) !== 0 &&
      paths.every((path) => compare(valueAt(other, path), valueAt(document, path)) === 0)
    if (![...made(of).documents.values()].some(isSame)) return
    const keyValue = Object.fromEntries(paths.map((path) => [path, valueAt(document, path) ?? null]))
    throw duplicate(of, name, key, keyValue)
  }

  const duplicate = (of: string, index: string, keyPattern: BSON.Document, keyValue: BSON.Document): ServerError => {
    const values = Object.entries(keyValue).map(([path, value]) => `${path}: ${shown(value)}`).join(', ')
    const message = `E11000 duplicate key error collection: ${of} index: ${index} dup key: { ${values} }`
    return new ServerError(11000, 'DuplicateKey', message, { keyPattern, keyValue })
  }

  const put = (of: string, document: BSON.Document): void => {
    for (const index of made(of).indexes.values())
      if (index.unique && index !== ID_INDEX) checkUnique(of, index, document)
    record({ of, put: document })
  }

  return {
    names: (): ReadonlyArray<string> => [...collections.keys()],
    documents: (of: string, view: View): ReadonlyArray<BSON.Document> => [
      ...(seen(view).get(of)?.documents.values() ?? []),
    ],
    byId: (of: string, id: unknown, view: View): BSON.Document | undefined =>
      seen(view).get(of)?.documents.get(keyOf(id)),
    indexes: (of: string): ReadonlyArray<Index> => [...(collections.get(of)?.indexes.values() ?? [])],
    insert: (of: string, document: BSON.Document): void => {
      if (made(of).documents.has(keyOf(document['_id'])))
        throw duplicate(of, '_id_', { _id: 1 }, { _id: document['_id'] })
      put(of, document)
    },
    replace: put,
    remove: (of: string, id: unknown): void => record({ of, remove: id }),
    addIndex: (of: string, index: Index): void => {
      if (index.unique) for (const document of made(of).documents.values()) checkUnique(of, index, document)
      record({ of, index })
    },
    dropIndex: (of: string, name: string): boolean => {
      if (collections.get(of)?.indexes.has(name) !== true) return false
      record({ of, dropped: name })
      return true
    },
    drop: (of: string): boolean => {
      if (!collections.has(of)) return false
      record({ of, drop: true })
      return true
    },
    /** From now on the primary alone has what is written. */
    cutOff: (): void => {
      replicated ??= copied()
    },
    /** From now on the secondary has nothing new; a majority has, of members that nobody reads. */
    lag: (): void => {
      lagging = copyOf(collections)
    },
    endLag: (): void => {
      lagging = null
    },
    /** Most members have everything again. */
    catchUp: (): void => {
      replicated = null
    },
    /**
     * As if the other members had elected a primary of their own: what only this one had is gone, and all are equal.
     */
    rollBack: (): void => {
      if (replicated === null) return
      collections.clear()
      for (const [name, collection] of replicated.collections) collections.set(name, collection)
      retryables.clear()
      for (const [session, retryable] of replicated.retryables) retryables.set(session, retryable)
      log.truncate(replicated.length)
      replicated = null
    },
    /** Whether the primary has what the others have not. */
    isAhead: (): boolean => replicated !== null && log.length() > replicated.length,
    retryable: (session: string): Retryable | undefined => retryables.get(session),
    /** Writes what the command has done; what is in the kernel's hands survives a kill -9. */
    commit: (retryable: Retryable | null): void => {
      if (retryable !== null) retryables.set(retryable.session, retryable)
      if (changes.length === 0 && retryable === null) return
      log.write(BSON.serialize({ changes, retryable } satisfies Entry))
      changes = []
    },
    load,
    copied,
    replicated: (): Replicated | null => replicated,
  }
}

export type Storage = ReturnType<typeof createStorage>

/**
 * With a file that holds them, one BSON document a command. A torn one at the end was never answered and is cut off.
 */
export const openStorage = (file: string): Storage => {
  const descriptor = openSync(file, 'a+')
  const storage = createStorage(new Map(), new Map(), fileLog(descriptor))
  ftruncateSync(descriptor, storage.load(readFileSync(file)))
  return storage
}

/** What a member has that goes its own way from here, without the others, and in memory alone. */
export const branchOf = (storage: Storage): Storage => {
  const { collections, retryables, length } = storage.copied()
  const before = storage.replicated()
  const ofMost = before === null ? storage.copied() : { ...before, collections: copyOf(before.collections) }
  return createStorage(new Map(collections), new Map(retryables), countingLog(length), ofMost)
}
