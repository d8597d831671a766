import type { BSON } from 'mongodb'
import { cursorAnswer, FIRST_BATCH, listOf, OK, type Call } from './call.ts'
import { notImplemented, ServerError } from './errors.ts'
import { checkFilter, matches } from './match.ts'

// Commands for indexes, collections and databases.

export const createIndexes = ({ storage, namespace, command }: Call): BSON.Document => {
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

export const dropIndexes = ({ storage, namespace, command }: Call): BSON.Document => {
  const nIndexesWas = storage.indexes(namespace).length
  if (nIndexesWas === 0) throw new ServerError(26, 'NamespaceNotFound', `ns not found ${namespace}`)
  const name: unknown = command['index']
  if (typeof name !== 'string' || name === '*') throw notImplemented('dropIndexes without a single name')
  if (!storage.dropIndex(namespace, name))
    throw new ServerError(27, 'IndexNotFound', `index not found with name [${name}]`)
  return { nIndexesWas, ...OK }
}

export const listIndexes = (call: Call): BSON.Document => {
  const indexes = call.storage.indexes(call.namespace)
  if (indexes.length === 0) throw new ServerError(26, 'NamespaceNotFound', `ns does not exist: ${call.namespace}`)
  return cursorAnswer(
    call,
    indexes.map(({ name, key, unique }) => ({ v: 2, key, name, ...(unique && name !== '_id_' ? { unique } : {}) })),
    FIRST_BATCH,
  )
}

export const listCollections = (call: Call): BSON.Document => {
  const start = `${call.database}.`
  const names = call.storage
    .names()
    .filter((name) => name.startsWith(start))
    .map((name) => ({ name: name.slice(start.length), type: 'collection' }))
  const filter = call.command['filter'] ?? {}
  checkFilter(filter)
  return cursorAnswer(call, names.filter((entry) => matches(entry, filter)), FIRST_BATCH)
}

export const drop = ({ storage, namespace }: Call): BSON.Document => {
  if (!storage.drop(namespace)) throw new ServerError(26, 'NamespaceNotFound', 'ns not found')
  return { ns: namespace, ...OK }
}

export const dropDatabase = ({ storage, database }: Call): BSON.Document => {
  for (const name of storage.names()) if (name.startsWith(`${database}.`)) storage.drop(name)
  return { dropped: database, ...OK }
}
