import { BSON } from 'mongodb'
import { each, notLearned, ServerError } from './errors.ts'
import { explained } from './explain.ts'
import { checkFilter, demanded, matches, projected, sorted } from './match.ts'
import type { Storage, View } from './storage.ts'
import { checkUpdate, updated } from './update.ts'

/** A command in the hands of its handler: `of` is the collection that it names. */
export interface Call {
  readonly storage: Storage
  readonly cursors: Map<number, ReadonlyArray<BSON.Document>>
  readonly database: string
  readonly of: string
  readonly command: BSON.Document
  /** What it reads. */
  readonly view: View
  /** By the clock of the member that it came to. */
  readonly now: Date
}

interface Command {
  /** Arguments beside its own name and those of every command. */
  readonly takes: ReadonlyArray<string>
  /** Documents, which makes it retryable, or else. */
  readonly writes?: 'documents' | 'metadata'
  readonly run: (call: Call) => BSON.Document
}

const FIRST_BATCH = 101
const OK = { ok: 1 }

let lastCursor = 0

const listOf = (value: unknown): ReadonlyArray<BSON.Document> => (Array.isArray(value) ? value : [])

/** The first documents, and a cursor for the others. */
const answered = (
  { cursors, of }: Pick<Call, 'cursors' | 'of'>,
  found: ReadonlyArray<BSON.Document>,
  size: number,
  single = false,
): BSON.Document => {
  const rest = single ? [] : found.slice(size)
  if (rest.length > 0) cursors.set(++lastCursor, rest)
  return {
    cursor: { firstBatch: found.slice(0, size), id: BSON.Long.fromNumber(rest.length > 0 ? lastCursor : 0), ns: of },
    ...OK,
  }
}

/** Those that the filter takes; one that names an `_id` is not looked for among all. */
const select = ({ storage, of, view }: Call, filter: BSON.Document): ReadonlyArray<BSON.Document> => {
  checkFilter(filter)
  const id: unknown = filter['_id']
  const candidates =
    typeof id === 'string'
      ? [storage.byId(of, id, view)].flatMap((document) => document ?? [])
      : storage.documents(of, view)
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
  return answered(call, found, Number(batchSize ?? FIRST_BATCH), singleBatch === true)
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

/** How a `find` is answered; its plan must find the same documents. */
const explain = (call: Call): BSON.Document => {
  const command: BSON.Document = call.command['explain']
  const of = `${call.database}.${command['find']}`
  const unknown = Object.keys(command).find((name) => name !== 'find' && !FIND.includes(name) && !COMMON.includes(name))
  if (unknown !== undefined || call.command['verbosity'] !== 'executionStats') throw notLearned('to explain that')
  const ids = foundBy({ ...call, of, command }).map(({ _id }): unknown => _id)
  const { found, ...stats } = explained(call.storage.documents(of, call.view), call.storage.indexes(of), command)
  const planned = found.map(({ _id }): unknown => _id)
  if (JSON.stringify(planned) !== JSON.stringify(ids)) throw new Error('the plan finds something else')
  return { ...stats, ...OK }
}

const insert = ({ storage, of, command }: Call): BSON.Document => {
  let n = 0
  const errors = each(listOf(command['documents']), command['ordered'], (document) => {
    storage.insert(of, '_id' in document ? document : { _id: new BSON.ObjectId(), ...document })
    n += 1
  })
  return { n, ...errors, ...OK }
}

interface Outcome {
  readonly before: BSON.Document | null
  readonly after: BSON.Document | null
}

/** Changes the first that the filter takes, or makes one. */
const updateOne = (call: Call, filter: BSON.Document, update: BSON.Document, upsert: boolean): Outcome => {
  checkUpdate(update)
  const [before] = select(call, filter)
  if (before !== undefined) {
    const after = updated(before, update, { isNew: false, now: call.now })
    if (!Buffer.from(BSON.serialize(before)).equals(BSON.serialize(after))) call.storage.replace(call.of, after)
    return { before, after }
  }
  if (!upsert) return { before: null, after: null }
  const after = updated(demanded(filter), update, { isNew: true, now: call.now })
  const whole = '_id' in after ? after : { _id: new BSON.ObjectId(), ...after }
  call.storage.insert(call.of, whole)
  return { before: null, after: whole }
}

const UPDATE_MEMBERS = ['q', 'u', 'upsert', 'multi']

const update = (call: Call): BSON.Document => {
  let n = 0
  let nModified = 0
  const upserted: Array<BSON.Document> = []
  const errors = each(listOf(call.command['updates']), call.command['ordered'], (one, index) => {
    const unknown = Object.keys(one).find((name) => !UPDATE_MEMBERS.includes(name))
    if (unknown !== undefined) throw notLearned(`update's member ${unknown}`)
    if (one['multi'] === true) throw notLearned('updates of many documents')
    const { before, after } = updateOne(call, one['q'], one['u'], one['upsert'] === true)
    if (after === null) return
    n += 1
    if (before === null) upserted.push({ index, _id: after['_id'] })
    else if (before !== call.storage.byId(call.of, before['_id'], 'local')) nModified += 1
  })
  return { n, nModified, ...(upserted.length > 0 ? { upserted } : {}), ...errors, ...OK }
}

const DELETE_MEMBERS = ['q', 'limit']

const remove = (call: Call): BSON.Document => {
  let n = 0
  const errors = each(listOf(call.command['deletes']), call.command['ordered'], (one) => {
    const unknown = Object.keys(one).find((name) => !DELETE_MEMBERS.includes(name))
    if (unknown !== undefined) throw notLearned(`delete's member ${unknown}`)
    if (one['limit'] !== 1) throw notLearned('to delete many documents')
    const [found] = select(call, one['q'])
    if (found === undefined) return
    call.storage.remove(call.of, found['_id'])
    n += 1
  })
  return { n, ...errors, ...OK }
}

const findAndModify = (call: Call): BSON.Document => {
  const { query = {}, update: change, upsert, new: wantsNew } = call.command
  if (change === undefined || call.command['remove'] === true) throw notLearned('findAndModify without an update')
  const { before, after } = updateOne(call, query, change, upsert === true)
  const made = before === null && after !== null ? { upserted: after['_id'] } : {}
  const lastErrorObject = { n: after === null ? 0 : 1, updatedExisting: before !== null, ...made }
  return { lastErrorObject, value: wantsNew === true ? after : before, ...OK }
}

const createIndexes = ({ storage, of, command }: Call): BSON.Document => {
  const numIndexesBefore = storage.indexes(of).length
  for (const { key, name, unique = false, ...others } of listOf(command['indexes'])) {
    const [option] = Object.keys(others)
    if (option !== undefined) throw notLearned(`the index option ${option}`)
    const same = JSON.stringify(key)
    const known = storage.indexes(of).find((index) => index.name === name || JSON.stringify(index.key) === same)
    if (known === undefined) storage.addIndex(of, { key: { ...key }, name, unique: unique === true })
    else if (known.name !== name)
      throw new ServerError(85, 'IndexOptionsConflict', `Index already exists with a different name: ${known.name}`)
    else if (JSON.stringify(known.key) !== same)
      throw new ServerError(
        86,
        'IndexKeySpecsConflict',
        `An existing index has the same name as the requested index. Requested index: ${name}`,
      )
  }
  return { numIndexesBefore, numIndexesAfter: storage.indexes(of).length, ...OK }
}

const dropIndexes = ({ storage, of, command }: Call): BSON.Document => {
  const nIndexesWas = storage.indexes(of).length
  if (nIndexesWas === 0) throw new ServerError(26, 'NamespaceNotFound', `ns not found ${of}`)
  const name: unknown = command['index']
  if (typeof name !== 'string' || name === '*') throw notLearned('to drop indexes but by the name of one')
  if (!storage.dropIndex(of, name)) throw new ServerError(27, 'IndexNotFound', `index not found with name [${name}]`)
  return { nIndexesWas, ...OK }
}

const listIndexes = (call: Call): BSON.Document => {
  const indexes = call.storage.indexes(call.of)
  if (indexes.length === 0) throw new ServerError(26, 'NamespaceNotFound', `ns does not exist: ${call.of}`)
  return answered(
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
  return answered(call, names.filter((entry) => matches(entry, filter)), FIRST_BATCH)
}

const drop = ({ storage, of }: Call): BSON.Document => {
  if (!storage.drop(of)) throw new ServerError(26, 'NamespaceNotFound', 'ns not found')
  return { ns: of, ...OK }
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

/** Arguments that every command takes. */
export const COMMON = [
  '$db', 'lsid', '$clusterTime', '$readPreference', 'readConcern', 'writeConcern', 'maxTimeMS', 'txnNumber', 'comment',
]

const FIND = ['filter', 'sort', 'projection', 'skip', 'limit', 'batchSize', 'singleBatch']

/** All that the double can do beside greeting; every other command is unknown to it. */
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
