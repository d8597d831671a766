import { BSON } from 'mongodb'
import { COMMANDS } from './commands.ts'
import { failure, ServerError } from './errors.ts'
import type { Storage } from './storage.ts'

/** Arguments that every command takes; what they ask for needs nothing of one thread that writes before it answers. */
const COMMON = ['$db', 'lsid', '$clusterTime', '$readPreference', 'readConcern', 'writeConcern', 'maxTimeMS', 'txnNumber', 'comment']

interface ServerOptions {
  readonly storage: Storage
  /** Where others reach it: `host:port`. */
  readonly address: string
  /** Null for a standalone server. */
  readonly replicaSet: string | null
}

const electionId = new BSON.ObjectId()

/** Answers commands one after another, each as a whole: `hello` as MongoDB 7.0 does. */
export const createServer = ({ storage, address, replicaSet }: ServerOptions): ((command: BSON.Document) => BSON.Document) => {
  const cursors = new Map<number, ReadonlyArray<BSON.Document>>()

  const hello = (): BSON.Document => ({
    helloOk: true,
    ismaster: true,
    isWritablePrimary: true,
    ...(replicaSet === null
      ? {}
      : { setName: replicaSet, setVersion: 1, electionId, hosts: [address], primary: address, me: address, secondary: false }),
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

  const run = (name: string, command: BSON.Document): BSON.Document => {
    const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (known === undefined) throw new ServerError(59, 'CommandNotFound', `no such command: '${name}'`)
    const unknown = Object.keys(command).find((field) => field !== name && !COMMON.includes(field) && !known.takes.includes(field))
    if (unknown !== undefined) throw new ServerError(40415, 'Location40415', `BSON field '${name}.${unknown}' is an unknown field.`)
    const retryable = retryableOf(command, known.writes === true)
    if (retryable !== null) {
      const earlier = storage.retryable(retryable.session)
      if (earlier?.number === retryable.number) return earlier.reply
      if (earlier !== undefined && earlier.number > retryable.number)
        throw new ServerError(225, 'TransactionTooOld', `Retryable write with txnNumber ${retryable.number} is prohibited on session`)
    }
    const database = String(command['$db'])
    const reply = known.run({ storage, cursors, database, of: `${database}.${String(command[name])}`, command })
    storage.commit(retryable && { ...retryable, reply })
    return reply
  }

  return (command) => {
    const [name = ''] = Object.keys(command)
    if (['hello', 'ismaster', 'isMaster'].includes(name)) return hello()
    try {
      return run(name, command)
    } catch (error) {
      if (!(error instanceof ServerError)) throw error
      storage.commit(null)
      return failure(error)
    }
  }
}
