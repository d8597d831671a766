import { BSON } from 'mongodb'
import { COMMANDS, COMMON } from './commands.ts'
import { checkWriteConcern, viewOf, waitsForMajority } from './concerns.ts'
import { failure, ServerError } from './errors.ts'
import type { Storage } from './storage.ts'

interface ServerOptions {
  readonly storage: Storage
  /** Where others reach its members, the primary first: `host:port`. */
  readonly hosts: ReadonlyArray<string>
  /** Null for a standalone server. */
  readonly replicaSet: string | null
  /** Whether writes whose acknowledgement would not be durable are done. */
  readonly isLenient: boolean
}

export interface Answer {
  readonly document: BSON.Document
  /** The document is to be kept back until most members have what was written, but this long; in milliseconds, 0: for ever. */
  readonly awaitsMajorityMs: number | null
}

/** Answers a command that came to the primary, or to the secondary. */
export type Server = (command: BSON.Document, member?: 'primary' | 'secondary') => Answer

const electionId = new BSON.ObjectId()

/** Answers commands one after another, each as a whole: `hello` as MongoDB 7.0 does. */
export const createServer = ({ storage, hosts, replicaSet, isLenient }: ServerOptions): Server => {
  const cursors = new Map<number, ReadonlyArray<BSON.Document>>()
  const [primary, secondary] = hosts

  const hello = (isPrimary: boolean): BSON.Document => ({
    helloOk: true,
    ismaster: isPrimary,
    isWritablePrimary: isPrimary,
    ...(replicaSet === null ? {} : {
      setName: replicaSet, setVersion: 1, hosts, primary, me: isPrimary ? primary : secondary, secondary: !isPrimary,
      ...(isPrimary ? { electionId } : {}),
    }),
    maxBsonObjectSize: 16_777_216,
    maxMessageSizeBytes: 48_000_000,
    maxWriteBatchSize: 100_000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    minWireVersion: 0,
    maxWireVersion: 21,
    readOnly: false,
    ok: 1,
  })

  /** The session's retryable write: done already, or to be remembered with its outcome. */
  const retryableOf = (command: BSON.Document, writes: boolean): { readonly session: string; readonly number: number } | null => {
    if (command['txnNumber'] === undefined) return null
    if (replicaSet === null || !writes)
      throw new ServerError(20, 'IllegalOperation', 'Transaction numbers are only allowed on a replica set member or mongos')
    return { session: Buffer.from((command['lsid'] as { id: BSON.Binary }).id.value()).toString('hex'), number: Number(command['txnNumber']) }
  }

  /** Its outcome, where the session's retryable write is done already. */
  const earlierReply = (retryable: ReturnType<typeof retryableOf>): BSON.Document | null => {
    const earlier = retryable === null ? undefined : storage.retryable(retryable.session)
    if (retryable === null || earlier === undefined || earlier.number < retryable.number) return null
    if (earlier.number === retryable.number) return earlier.reply
    const message = `Retryable write with txnNumber ${retryable.number} is prohibited on session`
    throw new ServerError(225, 'TransactionTooOld', message)
  }

  const run = (name: string, command: BSON.Document, member: 'primary' | 'secondary'): BSON.Document => {
    const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (known === undefined) throw new ServerError(59, 'CommandNotFound', `no such command: '${name}'`)
    const unknown = Object.keys(command).find((field) => field !== name && !COMMON.includes(field) && !known.takes.includes(field))
    if (unknown !== undefined) throw new ServerError(40415, 'Location40415', `BSON field '${name}.${unknown}' is an unknown field.`)
    if (known.writes !== undefined && member === 'secondary') throw new ServerError(10107, 'NotWritablePrimary', 'not primary')
    if (known.writes !== undefined && !isLenient) checkWriteConcern(command)
    const retryable = retryableOf(command, known.writes === 'documents')
    const earlier = earlierReply(retryable)
    if (earlier !== null) return earlier
    const database = String(command['$db'])
    const view = known.writes !== undefined ? 'local' : member === 'secondary' ? 'secondary' : viewOf(command)
    const reply = known.run({ storage, cursors, database, of: `${database}.${String(command[name])}`, command, view })
    storage.commit(retryable && { ...retryable, reply })
    return reply
  }

  return (command, member = 'primary') => {
    const [name = ''] = Object.keys(command)
    if (['hello', 'ismaster', 'isMaster'].includes(name)) return { document: hello(member === 'primary'), awaitsMajorityMs: null }
    try {
      const document = run(name, command, member)
      // Also what changed nothing: it may have been decided by what only the primary has.
      const isKept = COMMANDS[name]?.writes !== undefined && waitsForMajority(command) && storage.isAhead()
      return { document, awaitsMajorityMs: isKept ? Number(command['writeConcern']['wtimeout'] ?? 0) : null }
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      storage.commit(null)
      return { document: failure(error), awaitsMajorityMs: null }
    }
  }
}
