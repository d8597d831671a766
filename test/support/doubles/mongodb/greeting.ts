import { BSON } from 'mongodb'
import type { Seat } from './replica-set.ts'

interface GreetingOptions {
  /** Null: a standalone server. */
  readonly replicaSet: string | null
  /** The addresses of the members for this client. */
  readonly hosts: ReadonlyArray<string>
  /** The number of the answering member. */
  readonly member: number
  readonly seat: Seat
}

const processId = new BSON.ObjectId()
/** Always the same: a driver would consider a lower number an older set. */
const SET_VERSION = 1

/** A fixed half and the term, as on a real server, so drivers recognise the newer of two primaries. */
const electionIdOf = (term: number): BSON.ObjectId =>
  new BSON.ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`)

/** The version of a member's state. Drivers wait for a new version and ignore errors of older versions. */
export const topologyVersionOf = ({ version }: Seat): BSON.Document => ({
  processId,
  counter: BSON.Long.fromNumber(version),
})

const partOfSet = (name: string, { hosts, member, seat }: GreetingOptions): BSON.Document => {
  const primary = seat.primary === null ? undefined : hosts[seat.primary]
  return {
    setName: name, setVersion: SET_VERSION, hosts, me: hosts[member], secondary: seat.leads === null,
    ...(primary === undefined ? {} : { primary }),
    ...(seat.leads === null ? {} : { electionId: electionIdOf(seat.leads) }),
    lastWrite: { lastWriteDate: seat.now() },
  }
}

/** The answer of a member to `hello`, like that of MongoDB 7.0. */
export const greeting = (options: GreetingOptions): BSON.Document => ({
  helloOk: true,
  ismaster: options.seat.leads !== null,
  isWritablePrimary: options.seat.leads !== null,
  topologyVersion: topologyVersionOf(options.seat),
  ...(options.replicaSet === null ? {} : partOfSet(options.replicaSet, options)),
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  localTime: options.seat.now(),
  logicalSessionTimeoutMinutes: 30,
  minWireVersion: 0,
  maxWireVersion: 21,
  readOnly: false,
  ok: 1,
})

/** Returns whether the client has the present state of the member. */
export const isKnown = (seat: Seat, clientVersion: BSON.Document): boolean =>
  processId.equals(clientVersion['processId'] as BSON.ObjectId) && Number(clientVersion['counter']) === seat.version
