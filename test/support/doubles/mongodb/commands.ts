import { BSON } from 'mongodb'
import { cursorAnswer, FIRST_BATCH, listOf, OK, type Call } from './call.ts'
import { createIndexes, drop, dropDatabase, dropIndexes, listCollections, listIndexes } from './catalogue-commands.ts'
import { runBulk, notImplemented, ServerError } from './errors.ts'
import { explained } from './explain.ts'
import { checkFilter, demanded, matches, projected, sorted } from './match.ts'
import { readNow, type ReadForUpdate } from './split-updates.ts'
import { checkUpdate, updated } from './update.ts'

interface Command {
  /** The arguments that only this command takes. Its name is not one of them. */
  readonly takes: ReadonlyArray<string>
  /** A command that writes documents is retryable. */
  readonly writes?: 'documents' | 'metadata'
  readonly run: (call: Call) => BSON.Document
}

/** Returns the documents that match the filter. A filter with an `_id` needs no scan. */
const select = (
  { storage, namespace, view }: Call,
  filter: BSON.Document,
  readAs: ReadForUpdate = readNow,
): ReadonlyArray<BSON.Document> => {
  checkFilter(filter)
  const id: unknown = filter['_id']
  const candidates =
    typeof id === 'string'
      ? [readAs(`${namespace} ${id}`, () => storage.byId(namespace, id, view))].flatMap((document) => document ?? [])
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

/** Changes the first document that matches the filter, or inserts a document. */
const updateOne = (call: Call, filter: BSON.Document, update: BSON.Document, upsert: boolean): Outcome => {
  checkUpdate(update)
  const [before] = select(call, filter, call.readForUpdate)
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
