import type { DatabaseSync } from 'node:sqlite'

const COLLECTION = /^[a-zA-Z][a-zA-Z0-9_-]*$/
const MEMBER = /^[a-zA-Z]+$/

/** Quoted name of a collection's table; throws on a name that is none. */
export const tableOf = (collection: string): string => {
  if (!COLLECTION.test(collection)) throw new TypeError(`"${collection}" is not a valid name of a collection`)
  return `"documents_${collection}"`
}

/** The SQL of a document's top-level member, the same text in indexes and queries; throws on a name that is none. */
export const memberOf = (member: string): string => {
  if (!MEMBER.test(member)) throw new TypeError(`"${member}" is not a valid name of a member`)
  return `json_extract(body, '$.${member}')`
}

/** One row a document; a removed one keeps its position, so that nothing older brings it back. */
export const tableSchema = (collection: string): string => `
  CREATE TABLE IF NOT EXISTS ${tableOf(collection)}(id TEXT PRIMARY KEY, position TEXT NOT NULL, body TEXT) STRICT;
`

/** Columns that files of earlier versions lack. */
const LATER_COLUMNS = { last: 'TEXT', token: 'INTEGER NOT NULL DEFAULT 0', told: 'TEXT' }

/** One row a projection or duty; `last` and `told` are JSON. */
export const ensureCheckpoints = (database: DatabaseSync): void => {
  database.exec('CREATE TABLE IF NOT EXISTS checkpoints(projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT')
  const columns = database.prepare("SELECT name FROM pragma_table_info('checkpoints')").all().map(({ name }) => name)
  for (const [name, type] of Object.entries(LATER_COLUMNS))
    if (!columns.includes(name)) database.exec(`ALTER TABLE checkpoints ADD COLUMN ${name} ${type}`)
}

/**
 * What an index is over: the part of its SQL that stays the same when its table is renamed. Of documents that are there: a
 * page is skipped to in the index alone.
 */
const indexedMembers = (members: ReadonlyArray<string>): string => `(${[...members.map(memberOf), 'id'].join(', ')}) WHERE body IS NOT NULL`

/**
 * Makes the index unless the table has it under any name: a table that took another's place has kept the names of its
 * indexes, so that the usual name may be taken.
 */
export const ensureIndex = (database: DatabaseSync, collection: string, members: ReadonlyArray<string>): void => {
  const over = indexedMembers(members)
  const indexes = database.prepare("SELECT name, tbl_name AS tableName, sql FROM sqlite_master WHERE type = 'index'").all()
  const isThere = indexes.some(({ tableName, sql }) => `"${String(tableName)}"` === tableOf(collection) && String(sql).endsWith(over))
  if (isThere) return
  const taken = new Set(indexes.map(({ name }) => name))
  const plain = `by_${collection}_${members.join('_')}`
  let name = plain
  for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`
  database.exec(`CREATE INDEX "${name}" ON ${tableOf(collection)}${over}`)
}
