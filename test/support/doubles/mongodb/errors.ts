import type { BSON } from 'mongodb'

/** An error of a server. https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
export class ServerError extends Error {
  readonly code: number
  readonly codeName: string
  /** Further members of the answer. */
  readonly more: BSON.Document

  constructor(code: number, codeName: string, message: string, more: BSON.Document = {}) {
    super(message)
    this.code = code
    this.codeName = codeName
    this.more = more
  }
}

/** The error for a feature of real servers that the double lacks, because the project does not use it. */
export const notImplemented = (feature: string): ServerError =>
  new ServerError(238, 'NotImplemented', `the double of MongoDB does not implement ${feature}`)

/** Codes of members that are not the primary. */
const NOT_PRIMARY = [10107, 13435, 11602]

interface Refused {
  readonly command: BSON.Document
  readonly topologyVersion: BSON.Document
}

/** The answer to a failed command. A driver repeats a write only when the failure has the label for it. */
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

/** Runs the items of a bulk write and collects the errors. If `ordered`, the first error stops the bulk write. */
export const runBulk = <A,>(
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
