const COLLECTION = /^[a-zA-Z][a-zA-Z0-9_-]*$/
const MEMBER = /^[a-zA-Z]+$/

/** Quoted name of a collection's table; throws on a name that is none. */
export const tableOf = (collection: string): string => {
  if (!COLLECTION.test(collection)) throw new TypeError(`"${collection}" cannot name a collection`)
  return `"documents_${collection}"`
}

/** The SQL of a document's top-level member, the same text in indexes and queries; throws on a name that is none. */
export const memberOf = (member: string): string => {
  if (!MEMBER.test(member)) throw new TypeError(`"${member}" cannot name a member to query by`)
  return `json_extract(body, '$.${member}')`
}

/** One row a document; a removed one keeps its position, so that nothing older brings it back. */
export const tableSchema = (collection: string): string => `
  CREATE TABLE IF NOT EXISTS ${tableOf(collection)}(id TEXT PRIMARY KEY, position TEXT NOT NULL, body TEXT) STRICT;
`

/** Of documents that are there: a page is skipped to in the index alone. */
export const indexSchema = (collection: string, members: ReadonlyArray<string>): string => `
  CREATE INDEX IF NOT EXISTS "by_${collection}_${members.join('_')}"
  ON ${tableOf(collection)}(${[...members.map(memberOf), 'id'].join(', ')}) WHERE body IS NOT NULL;
`
