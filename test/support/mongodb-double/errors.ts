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
export const notLearned = (what: string): ServerError => new ServerError(238, 'NotImplemented', `the double of MongoDB has not learned ${what}`)

/** The answer to a command that failed. */
export const failure = ({ code, codeName, message, more }: ServerError): BSON.Document => ({ ok: 0, errmsg: message, code, codeName, ...more })
