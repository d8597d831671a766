import type { BSON } from 'mongodb'

/** A refusal as a server words it. https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
export class ServerError extends Error {
  readonly code: number
  readonly codeName: string
  readonly more: BSON.Document

  constructor(code: number, codeName: string, message: string, more: BSON.Document = {}) {
    super(message)
    this.code = code
    this.codeName = codeName
    this.more = more
  }
}

/** A real server can do this; the double has not learned it, because nothing in the project asks for it. */
export const notLearned = (what: string): ServerError =>
  new ServerError(238, 'NotImplemented', `the double of MongoDB has not learned ${what}`)

/** Codes by which a member says that it is, or has become, none that takes this. */
const NOT_PRIMARY = [10107, 13435, 11602]

interface Refused {
  readonly command: BSON.Document
  readonly topologyVersion: BSON.Document
}

/** The answer to a command that failed; a driver repeats a write only where the server has labelled the failure. */
export const failure = (
  { code, codeName, message, more }: ServerError,
  { command, topologyVersion }: Refused,
): BSON.Document => ({
  ok: 0,
  errmsg: message,
  code,
  codeName,
  ...more,
  ...(NOT_PRIMARY.includes(code) ? { topologyVersion } : {}),
  ...(NOT_PRIMARY.includes(code) && command['txnNumber'] !== undefined ? { errorLabels: ['RetryableWriteError'] } : {}),
})

/** Runs each; one that is refused is named, and stops those behind it where they are ordered. */
export const each = <A,>(
  items: ReadonlyArray<A>,
  ordered: unknown,
  run: (item: A, index: number) => void,
): BSON.Document => {
  const writeErrors: Array<BSON.Document> = []
  for (const [index, item] of items.entries()) {
    try {
      run(item, index)
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      writeErrors.push({ index, code: error.code, errmsg: error.message, ...error.more })
      if (ordered !== false) break
    }
  }
  return writeErrors.length === 0 ? {} : { writeErrors }
}
