import type { DatabaseSync } from 'node:sqlite'

const COLLECTION = /^[a-zA-Z][a-zA-Z0-9_-]*$/
const MEMBER = /^[a-zA-Z]+$/

/** Returns the quoted table name of a collection. Throws a TypeError on an invalid name. */
export const tableOf = (collection: string): string => {
  if (!COLLECTION.test(collection)) throw new TypeError(`"${collection}" is not a valid name of a collection`)
  return `"documents_${collection}"`
}

/** Returns the quoted path of a top-level member in a document. Throws a TypeError on an invalid name. */
export const pathOf = (member: string): string => {
  if (!MEMBER.test(member)) throw new TypeError(`"${member}" is not a valid name of a member`)
  return `'$.${member}'`
}

/**
 * Returns the SQL expression of a top-level member. Indexes and queries must use this same text. Throws a TypeError on
 * an invalid name.
 */
export const memberOf = (member: string): string => `json_extract(body, ${pathOf(member)})`

/** One row for each document. A removed document keeps its position, so an older change cannot restore it. */
export const tableSchema = (collection: string): string => `
  CREATE TABLE IF NOT EXISTS ${tableOf(collection)}(id TEXT PRIMARY KEY, position TEXT NOT NULL, body TEXT) STRICT;
`

/** Columns that are missing in files of earlier versions. */
const LATER_COLUMNS = { last: 'TEXT', token: 'INTEGER NOT NULL DEFAULT 0', told: 'TEXT' }

/** Creates the table of checkpoints, with one row for each projection or duty. `last` and `told` are JSON. */
export const ensureCheckpoints = (database: DatabaseSync): void => {
  database.exec('CREATE TABLE IF NOT EXISTS checkpoints(projection TEXT PRIMARY KEY, position TEXT NOT NULL) STRICT')
  const columns = database.prepare("SELECT name FROM pragma_table_info('checkpoints')").all().map(({ name }) => name)
  for (const [name, type] of Object.entries(LATER_COLUMNS))
    if (!columns.includes(name)) database.exec(`ALTER TABLE checkpoints ADD COLUMN ${name} ${type}`)
}

/**
 * Returns the part of an index definition after the table name. A renamed table keeps this part. The index contains
 * only existing documents, so skipping to a page reads only the index.
 */
const indexedMembers = (members: ReadonlyArray<string>): string =>
  `(${[...members.map(memberOf), 'id'].join(', ')}) WHERE body IS NOT NULL`

/**
 * Creates the index unless the table has it under any name. A renamed table keeps the names of its indexes, so the
 * usual name may already be in use.
 */
export const ensureIndex = (database: DatabaseSync, collection: string, members: ReadonlyArray<string>): void => {
  const definition = indexedMembers(members)
  const select = "SELECT name, tbl_name AS tableName, sql FROM sqlite_master WHERE type = 'index'"
  const indexes = database.prepare(select).all()
  const exists = indexes.some(({ tableName, sql }) =>
    `"${String(tableName)}"` === tableOf(collection) && String(sql).endsWith(definition))
  if (exists) return
  const taken = new Set(indexes.map(({ name }) => name))
  const plain = `by_${collection}_${members.join('_')}`
  let name = plain
  for (let n = 2; taken.has(name); n++) name = `${plain}_${n}`
  database.exec(`CREATE INDEX "${name}" ON ${tableOf(collection)}${definition}`)
}
