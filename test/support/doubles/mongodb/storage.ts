import { fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { BSON } from 'mongodb'
import { ServerError } from './errors.ts'
import { compare, valueAt } from './match.ts'

export interface Index {
  readonly name: string
  readonly key: BSON.Document
  readonly unique: boolean
}

/** A change of a collection. `namespace`: `database.collection`; `dropped`: the name of a dropped index. */
type Change =
  | { readonly namespace: string; readonly put: BSON.Document }
  | { readonly namespace: string; readonly remove: unknown }
  | { readonly namespace: string; readonly create: true }
  | { readonly namespace: string; readonly index: Index }
  | { readonly namespace: string; readonly dropped: string }
  | { readonly namespace: string; readonly drop: true }

/** The answer to a retryable write. A driver that lost the answer sends the write again. */
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

/** The data of the primary, of a majority, or of the readable secondary. */
export type View = 'local' | 'majority' | 'secondary'

/** The data of all members at the moment when the primary was cut off. */
interface Replicated {
  readonly collections: Collections
  readonly retryables: ReadonlyMap<string, Retryable>
  /** The length of the file in bytes. */
  readonly length: number
}

/** A log of changes. `length` in bytes. */
interface Log {
  readonly length: () => number
  readonly write: (bytes: Uint8Array) => void
  readonly truncate: (length: number) => void
}

/** A write to the kernel survives SIGKILL, so fsync is not needed. */
const fileLog = (descriptor: number): Log => ({
  length: () => fstatSync(descriptor).size,
  write: (bytes) => void writeSync(descriptor, bytes),
  truncate: (length) => ftruncateSync(descriptor, length),
})

const countingLog = (start: number): Log => {
  let length = start
  return { length: () => length, write: (bytes) => void (length += bytes.length), truncate: (to) => void (length = to) }
}

const ID_INDEX: Index = { name: '_id_', key: { _id: 1 }, unique: true }

const keyOf = (id: unknown): string =>
  typeof id === 'string' ? id : Buffer.from(BSON.serialize({ id })).toString('latin1')

const shown = (value: unknown): string => (typeof value === 'string' ? `"${value}"` : JSON.stringify(value))

const copyOf = (collections: Collections): Map<string, Collection> =>
  new Map([...collections].map(([name, { documents, indexes }]) =>
    [name, { documents: new Map(documents), indexes: new Map(indexes) }]))

/** Collections in memory, by `database.collection`. The changes of a command are in the log before its answer. */
const createStorage = (
  collections: Map<string, Collection>, retryables: Map<string, Retryable>, log: Log, initial: Replicated | null = null,
) => {
  let replicated = initial
  let lagging: Collections | null = null
  let changes: Array<Change> = []

  const collectionOf = (name: string): Collection => {
    const collection = collections.get(name) ?? { documents: new Map(), indexes: new Map([[ID_INDEX.name, ID_INDEX]]) }
    collections.set(name, collection)
    return collection
  }

  const apply = (change: Change): void => {
    if ('put' in change) collectionOf(change.namespace).documents.set(keyOf(change.put['_id']), change.put)
    else if ('remove' in change) collectionOf(change.namespace).documents.delete(keyOf(change.remove))
    else if ('index' in change) collectionOf(change.namespace).indexes.set(change.index.name, change.index)
    else if ('dropped' in change) collectionOf(change.namespace).indexes.delete(change.dropped)
    else if ('create' in change) collectionOf(change.namespace)
    else collections.delete(change.namespace)
  }

  const record = (change: Change): void => {
    apply(change)
    changes.push(change)
  }

  /** Applies a log. Returns the end of its last complete entry. */
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

  const collectionsIn = (view: View): Collections => {
    const ofMajority = replicated?.collections ?? collections
    return { local: collections, majority: ofMajority, secondary: lagging ?? ofMajority }[view]
  }

  const copied = (): Replicated =>
    ({ collections: copyOf(collections), retryables: new Map(retryables), length: log.length() })

  const checkUnique = (namespace: string, { name, key }: Index, document: BSON.Document): void => {
    const paths = Object.keys(key)
    const isSame = (other: BSON.Document): boolean =>
      compare(other['_id'], document['_id']) !== 0 &&
      paths.every((path) => compare(valueAt(other, path), valueAt(document, path)) === 0)
    if (![...collectionOf(namespace).documents.values()].some(isSame)) return
    const keyValue = Object.fromEntries(paths.map((path) => [path, valueAt(document, path) ?? null]))
    throw duplicate(namespace, name, key, keyValue)
  }

  const duplicate = (
    namespace: string, index: string, keyPattern: BSON.Document, keyValue: BSON.Document,
  ): ServerError => {
    const values = Object.entries(keyValue).map(([path, value]) => `${path}: ${shown(value)}`).join(', ')
    const message = `E11000 duplicate key error collection: ${namespace} index: ${index} dup key: { ${values} }`
    return new ServerError(11000, 'DuplicateKey', message, { keyPattern, keyValue })
  }

  const put = (namespace: string, document: BSON.Document): void => {
    for (const index of collectionOf(namespace).indexes.values())
      if (index.unique && index !== ID_INDEX) checkUnique(namespace, index, document)
    record({ namespace, put: document })
  }

  return {
    names: (): ReadonlyArray<string> => [...collections.keys()],
    documents: (namespace: string, view: View): ReadonlyArray<BSON.Document> => [
      ...(collectionsIn(view).get(namespace)?.documents.values() ?? []),
    ],
    byId: (namespace: string, id: unknown, view: View): BSON.Document | undefined =>
      collectionsIn(view).get(namespace)?.documents.get(keyOf(id)),
    indexes: (namespace: string): ReadonlyArray<Index> => [...(collections.get(namespace)?.indexes.values() ?? [])],
    insert: (namespace: string, document: BSON.Document): void => {
      if (collectionOf(namespace).documents.has(keyOf(document['_id'])))
        throw duplicate(namespace, '_id_', { _id: 1 }, { _id: document['_id'] })
      put(namespace, document)
    },
    replace: put,
    remove: (namespace: string, id: unknown): void => record({ namespace, remove: id }),
    addIndex: (namespace: string, index: Index): void => {
      if (index.unique)
        for (const document of collectionOf(namespace).documents.values()) checkUnique(namespace, index, document)
      record({ namespace, index })
    },
    dropIndex: (namespace: string, name: string): boolean => {
      if (collections.get(namespace)?.indexes.has(name) !== true) return false
      record({ namespace, dropped: name })
      return true
    },
    drop: (namespace: string): boolean => {
      if (!collections.has(namespace)) return false
      record({ namespace, drop: true })
      return true
    },
    /** From now on only the primary has new writes. */
    cutOff: (): void => {
      replicated ??= copied()
    },
    /** From now on the readable secondary gets no new writes. A majority of other members does. */
    lag: (): void => {
      lagging = copyOf(collections)
    },
    endLag: (): void => {
      lagging = null
    },
    /** A majority has all writes again. */
    catchUp: (): void => {
      replicated = null
    },
    /** Removes the writes that only the primary has, as after an election by the other members. */
    rollBack: (): void => {
      if (replicated === null) return
      collections.clear()
      for (const [name, collection] of replicated.collections) collections.set(name, collection)
      retryables.clear()
      for (const [session, retryable] of replicated.retryables) retryables.set(session, retryable)
      log.truncate(replicated.length)
      replicated = null
    },
    /** Returns whether the primary has writes that the other members lack. */
    isAhead: (): boolean => replicated !== null && log.length() > replicated.length,
    retryable: (session: string): Retryable | undefined => retryables.get(session),
    /** Writes the changes of the command to the log. */
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

/** Opens the storage of a file, which has one BSON document per command. Removes an incomplete last document. */
export const openStorage = (file: string): Storage => {
  const descriptor = openSync(file, 'a+')
  const storage = createStorage(new Map(), new Map(), fileLog(descriptor))
  ftruncateSync(descriptor, storage.load(readFileSync(file)))
  return storage
}

/** A copy of the data for a disconnected member. It exists in memory only. */
export const branchOf = (storage: Storage): Storage => {
  const { collections, retryables, length } = storage.copied()
  const before = storage.replicated()
  const ofMajority = before === null ? storage.copied() : { ...before, collections: copyOf(before.collections) }
  return createStorage(new Map(collections), new Map(retryables), countingLog(length), ofMajority)
}
