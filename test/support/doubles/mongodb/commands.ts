import { BSON } from 'mongodb'
import { runBulk, notImplemented, ServerError } from './errors.ts'
import { explained } from './explain.ts'
import { checkFilter, demanded, matches, projected, sorted } from './match.ts'
import type { Storage, View } from './storage.ts'
import { checkUpdate, updated } from './update.ts'

/** A command with its context. `namespace`: `database.collection`. */
export interface Call {
  readonly storage: Storage
  readonly cursors: Map<number, ReadonlyArray<BSON.Document>>
  readonly database: string
  readonly namespace: string
  readonly command: BSON.Document
  /** The state of the data that the command reads. */
  readonly view: View
  /** The time of the member that received it. */
  readonly now: Date
}

interface Command {
  /** The arguments, except its name and the arguments of every command. */
  readonly takes: ReadonlyArray<string>
  /** A command that writes documents is retryable. */
  readonly writes?: 'documents' | 'metadata'
  readonly run: (call: Call) => BSON.Document
}

/** The number of documents that MongoDB returns first when a command names no batch size. */
const FIRST_BATCH = 101
const OK = { ok: 1 }

let lastCursor = 0

const listOf = (value: unknown): ReadonlyArray<BSON.Document> => (Array.isArray(value) ? value : [])

/** Answers with the first documents, and with a cursor for the others. */
const cursorAnswer = (
  { cursors, namespace }: Pick<Call, 'cursors' | 'namespace'>,
  found: ReadonlyArray<BSON.Document>,
  size: number,
  isSingle = false,
): BSON.Document => {
  const rest = isSingle ? [] : found.slice(size)
  if (rest.length > 0) cursors.set(++lastCursor, rest)
  return {
    cursor: {
      firstBatch: found.slice(0, size),
      id: BSON.Long.fromNumber(rest.length > 0 ? lastCursor : 0),
      ns: namespace,
    },
    ...OK,
  }
}

/** Returns the documents that match the filter. A filter with an `_id` needs no scan. */
const select = ({ storage, namespace, view }: Call, filter: BSON.Document): ReadonlyArray<BSON.Document> => {
  checkFilter(filter)
  const id: unknown = filter['_id']
  const candidates =
    typeof id === 'string'
      ? [storage.byId(namespace, id, view)].flatMap((document) => document ?? [])
      : storage.documents(namespace, view)
  return candidates.filter((document) => matches(document, filter))
}

const foundBy = (call: Call): ReadonlyArray<BSON.Document> => {
  const { filter = {}, sort = {}, skip = 0, limit = 0 } = call.command
  const ordered = sorted(select(call, filter), sort).slice(Number(skip))
  return limit === 0 ? ordered : ordered.slice(0, Number(limit))
}

const find = (call: Call): BSON.Document => {
  const { projection = {}, batchSize, singleBatch } = call.command
  const found = foundBy(call).map((document) => projected(document, projection))
  return cursorAnswer(call, found, Number(batchSize ?? FIRST_BATCH), singleBatch === true)
}

const getMore = ({ cursors, database, command }: Call): BSON.Document => {
  const id = Number(command['getMore'])
  const rest = cursors.get(id)
  if (rest === undefined) throw new ServerError(43, 'CursorNotFound', `cursor id ${id} not found`)
  const size = Number(command['batchSize'] ?? rest.length)
  if (rest.length > size) cursors.set(id, rest.slice(size))
  else cursors.delete(id)
  const next = BSON.Long.fromNumber(rest.length > size ? id : 0)
  return { cursor: { nextBatch: rest.slice(0, size), id: next, ns: `${database}.${command['collection']}` }, ...OK }
}

/** Explains a `find`. Its plan must find the same documents as the `find`. */
const explain = (call: Call): BSON.Document => {
  const command: BSON.Document = call.command['explain']
  const namespace = `${call.database}.${command['find']}`
  const unknown = Object.keys(command).find((name) => name !== 'find' && !FIND.includes(name) && !COMMON.includes(name))
  if (unknown !== undefined || call.command['verbosity'] !== 'executionStats') throw notImplemented('this explain')
  const ids = foundBy({ ...call, namespace, command }).map(({ _id }): unknown => _id)
  const documents = call.storage.documents(namespace, call.view)
  const { found, ...stats } = explained(documents, call.storage.indexes(namespace), command)
  const planned = found.map(({ _id }): unknown => _id)
  if (JSON.stringify(planned) !== JSON.stringify(ids)) throw new Error('the plan finds other documents')
  return { ...stats, ...OK }
}

const insert = ({ storage, namespace, command }: Call): BSON.Document => {
  let n = 0
  const errors = runBulk(listOf(command['documents']), command['ordered'], (document) => {
    storage.insert(namespace, '_id' in document ? document : { _id: new BSON.ObjectId(), ...document })
    n += 1
  })
  return { n, ...errors, ...OK }
}

interface Outcome {
  readonly before: BSON.Document | null
  readonly after: BSON.Document | null
}

/** Changes the first document that matches the filter, or inserts one. */
const updateOne = (call: Call, filter: BSON.Document, update: BSON.Document, upsert: boolean): Outcome => {
  checkUpdate(update)
  const [before] = select(call, filter)
  if (before !== undefined) {
    const after = updated(before, update, { isNew: false, now: call.now })
    if (!Buffer.from(BSON.serialize(before)).equals(BSON.serialize(after))) call.storage.replace(call.namespace, after)
    return { before, after }
  }
  if (!upsert) return { before: null, after: null }
  const after = updated(demanded(filter), update, { isNew: true, now: call.now })
  const whole = '_id' in after ? after : { _id: new BSON.ObjectId(), ...after }
  call.storage.insert(call.namespace, whole)
  return { before: null, after: whole }
}

const UPDATE_MEMBERS = ['q', 'u', 'upsert', 'multi']

const update = (call: Call): BSON.Document => {
  let n = 0
  let nModified = 0
  const upserted: Array<BSON.Document> = []
  const errors = runBulk(listOf(call.command['updates']), call.command['ordered'], (entry, index) => {
    const unknown = Object.keys(entry).find((name) => !UPDATE_MEMBERS.includes(name))
    if (unknown !== undefined) throw notImplemented(`the member ${unknown} of an update`)
    if (entry['multi'] === true) throw notImplemented('updates of many documents')
    const { before, after } = updateOne(call, entry['q'], entry['u'], entry['upsert'] === true)
    if (after === null) return
    n += 1
    if (before === null) upserted.push({ index, _id: after['_id'] })
    else if (before !== call.storage.byId(call.namespace, before['_id'], 'local')) nModified += 1
  })
  return { n, nModified, ...(upserted.length > 0 ? { upserted } : {}), ...errors, ...OK }
}

const DELETE_MEMBERS = ['q', 'limit']

const remove = (call: Call): BSON.Document => {
  let n = 0
  const errors = runBulk(listOf(call.command['deletes']), call.command['ordered'], (entry) => {
    const unknown = Object.keys(entry).find((name) => !DELETE_MEMBERS.includes(name))
    if (unknown !== undefined) throw notImplemented(`the member ${unknown} of a delete`)
    if (entry['limit'] !== 1) throw notImplemented('deletes of many documents')
    const [found] = select(call, entry['q'])
    if (found === undefined) return
    call.storage.remove(call.namespace, found['_id'])
    n += 1
  })
  return { n, ...errors, ...OK }
}

const findAndModify = (call: Call): BSON.Document => {
  const { query = {}, update: change, upsert, new: wantsNew } = call.command
  if (change === undefined || call.command['remove'] === true) throw notImplemented('findAndModify without an update')
  const { before, after } = updateOne(call, query, change, upsert === true)
  const upserted = before === null && after !== null ? { upserted: after['_id'] } : {}
  const lastErrorObject = { n: after === null ? 0 : 1, updatedExisting: before !== null, ...upserted }
  return { lastErrorObject, value: wantsNew === true ? after : before, ...OK }
}

const createIndexes = ({ storage, namespace, command }: Call): BSON.Document => {
  const numIndexesBefore = storage.indexes(namespace).length
  for (const { key, name, unique = false, ...others } of listOf(command['indexes'])) {
    const [option] = Object.keys(others)
    if (option !== undefined) throw notImplemented(`the index option ${option}`)
    const keyText = JSON.stringify(key)
    const existing = storage
      .indexes(namespace)
      .find((index) => index.name === name || JSON.stringify(index.key) === keyText)
    if (existing === undefined) storage.addIndex(namespace, { key: { ...key }, name, unique: unique === true })
    else if (existing.name !== name)
      throw new ServerError(85, 'IndexOptionsConflict', `Index already exists with a different name: ${existing.name}`)
    else if (JSON.stringify(existing.key) !== keyText)
      throw new ServerError(
        86,
        'IndexKeySpecsConflict',
        `An existing index has the same name as the requested index. Requested index: ${name}`,
      )
  }
  return { numIndexesBefore, numIndexesAfter: storage.indexes(namespace).length, ...OK }
}

const dropIndexes = ({ storage, namespace, command }: Call): BSON.Document => {
  const nIndexesWas = storage.indexes(namespace).length
  if (nIndexesWas === 0) throw new ServerError(26, 'NamespaceNotFound', `ns not found ${namespace}`)
  const name: unknown = command['index']
  if (typeof name !== 'string' || name === '*') throw notImplemented('dropIndexes without a single name')
  if (!storage.dropIndex(namespace, name))
    throw new ServerError(27, 'IndexNotFound', `index not found with name [${name}]`)
  return { nIndexesWas, ...OK }
}

const listIndexes = (call: Call): BSON.Document => {
  const indexes = call.storage.indexes(call.namespace)
  if (indexes.length === 0) throw new ServerError(26, 'NamespaceNotFound', `ns does not exist: ${call.namespace}`)
  return cursorAnswer(
    call,
    indexes.map(({ name, key, unique }) => ({ v: 2, key, name, ...(unique && name !== '_id_' ? { unique } : {}) })),
    FIRST_BATCH,
  )
}

const listCollections = (call: Call): BSON.Document => {
  const start = `${call.database}.`
  const names = call.storage
    .names()
    .filter((name) => name.startsWith(start))
    .map((name) => ({ name: name.slice(start.length), type: 'collection' }))
  const filter = call.command['filter'] ?? {}
  checkFilter(filter)
  return cursorAnswer(call, names.filter((entry) => matches(entry, filter)), FIRST_BATCH)
}

const drop = ({ storage, namespace }: Call): BSON.Document => {
  if (!storage.drop(namespace)) throw new ServerError(26, 'NamespaceNotFound', 'ns not found')
  return { ns: namespace, ...OK }
}

const dropDatabase = ({ storage, database }: Call): BSON.Document => {
  for (const name of storage.names()) if (name.startsWith(`${database}.`)) storage.drop(name)
  return { dropped: database, ...OK }
}

const killCursors = ({ cursors, command }: Call): BSON.Document => {
  const ids: ReadonlyArray<unknown> = command['cursors'] ?? []
  for (const id of ids) cursors.delete(Number(id))
  return { cursorsKilled: ids, cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: [], ...OK }
}

/** The arguments of every command. */
export const COMMON = [
  '$db', 'lsid', '$clusterTime', '$readPreference', 'readConcern', 'writeConcern', 'maxTimeMS', 'txnNumber', 'comment',
]

const FIND = ['filter', 'sort', 'projection', 'skip', 'limit', 'batchSize', 'singleBatch']

/** All commands of the double except hello. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  ping: { takes: [], run: () => OK },
  endSessions: { takes: [], run: () => OK },
  find: { takes: FIND, run: find },
  explain: { takes: ['verbosity'], run: explain },
  getMore: { takes: ['collection', 'batchSize'], run: getMore },
  killCursors: { takes: ['cursors'], run: killCursors },
  insert: { takes: ['documents', 'ordered'], writes: 'documents', run: insert },
  update: { takes: ['updates', 'ordered'], writes: 'documents', run: update },
  delete: { takes: ['deletes', 'ordered'], writes: 'documents', run: remove },
  findAndModify: { takes: ['query', 'update', 'upsert', 'new', 'remove'], writes: 'documents', run: findAndModify },
  createIndexes: { takes: ['indexes'], writes: 'metadata', run: createIndexes },
  dropIndexes: { takes: ['index'], writes: 'metadata', run: dropIndexes },
  listIndexes: { takes: ['cursor'], run: listIndexes },
  listCollections: { takes: ['filter', 'cursor', 'nameOnly', 'authorizedCollections'], run: listCollections },
  drop: { takes: [], writes: 'metadata', run: drop },
  dropDatabase: { takes: [], writes: 'metadata', run: dropDatabase },
}
