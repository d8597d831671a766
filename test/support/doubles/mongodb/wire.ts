import { BSON } from 'mongodb'

/**
 * MongoDB's wire protocol without compression: OP_MSG, and OP_QUERY for the first hello of a connection.
 * https://www.mongodb.com/docs/manual/reference/mongodb-wire-protocol/
 */
const OP_REPLY = 1
const OP_QUERY = 2004
const OP_MSG = 2013
const HEADER = 16
const MORE_TO_COME = 2
const EXHAUST_ALLOWED = 65_536

export interface Request {
  readonly id: number
  readonly isQuery: boolean
  /** The first member names the command. Document sequences are ordinary members. */
  readonly command: BSON.Document
  /** False: an unacknowledged write. */
  readonly wantsReply: boolean
  /** Several answers may follow one request. */
  readonly takesMany: boolean
}

const documentAt = (bytes: Buffer, offset: number): { readonly document: BSON.Document; readonly end: number } => {
  const end = offset + bytes.readInt32LE(offset)
  return { document: BSON.deserialize(bytes.subarray(offset, end)), end }
}

const endOfString = (bytes: Buffer, offset: number): number => bytes.indexOf(0, offset)

const parseMessage = (bytes: Buffer, id: number): Request => {
  const flags = bytes.readUInt32LE(HEADER)
  const sequences: BSON.Document = {}
  let command: BSON.Document = {}
  let offset = HEADER + 4
  while (offset < bytes.length) {
    const kind = bytes.readUInt8(offset)
    offset += 1
    if (kind === 0) {
      const { document, end } = documentAt(bytes, offset)
      command = document
      offset = end
    } else {
      const end = offset + bytes.readInt32LE(offset)
      const nameEnd = endOfString(bytes, offset + 4)
      const documents: Array<BSON.Document> = []
      const name = bytes.toString('utf8', offset + 4, nameEnd)
      for (let at = nameEnd + 1; at < end;) {
        const next = documentAt(bytes, at)
        documents.push(next.document)
        at = next.end
      }
      sequences[name] = documents
      offset = end
    }
  }
  const [wantsReply, takesMany] = [(flags & MORE_TO_COME) === 0, (flags & EXHAUST_ALLOWED) !== 0]
  return { id, isQuery: false, command: { ...command, ...sequences }, wantsReply, takesMany }
}

const parse = (bytes: Buffer): Request => {
  const id = bytes.readInt32LE(4)
  const opcode = bytes.readInt32LE(12)
  if (opcode === OP_MSG) return parseMessage(bytes, id)
  if (opcode !== OP_QUERY) throw new Error(`unknown opcode ${opcode}`)
  const { document } = documentAt(bytes, endOfString(bytes, HEADER + 4) + 1 + 8)
  return { id, isQuery: true, command: document, wantsReply: true, takesMany: false }
}

/** Creates a function that splits the bytes of a connection into requests. It throws on an invalid request. */
export const createReader = (): ((chunk: Buffer) => ReadonlyArray<Request>) => {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const requests: Array<Request> = []
    while (rest.length >= HEADER && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0)
      requests.push(parse(rest.subarray(0, length)))
      rest = rest.subarray(length)
    }
    return requests
  }
}

let replies = 0

/** The bytes of an answer. `hasMore`: another answer follows. */
export const replyTo = (request: Request, document: BSON.Document, hasMore = false): Buffer => {
  const body = Buffer.from(BSON.serialize(document))
  // OP_MSG: flags, then one section of kind 0. OP_REPLY: flags, cursor, start, number of documents.
  const before = request.isQuery ? Buffer.alloc(20) : Buffer.alloc(5)
  if (request.isQuery) before.writeInt32LE(1, 16)
  else if (hasMore) before.writeInt32LE(MORE_TO_COME, 0)
  const header = Buffer.alloc(HEADER)
  replies += 1
  header.writeInt32LE(HEADER + before.length + body.length, 0)
  header.writeInt32LE(replies, 4)
  header.writeInt32LE(request.id, 8)
  header.writeInt32LE(request.isQuery ? OP_REPLY : OP_MSG, 12)
  return Buffer.concat([header, before, body])
}
