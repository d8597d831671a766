import { BSON } from 'mongodb'
import type { Seat } from './replica-set.ts'

interface GreetingOptions {
  /** Null for a standalone server. */
  readonly replicaSet: string | null
  /** Where the client reaches the members. */
  readonly hosts: ReadonlyArray<string>
  /** Of the member that answers. */
  readonly member: number
  readonly seat: Seat
}

const processId = new BSON.ObjectId()
/** Above 0 whatever was done before: a driver would take a lower one for an older set. */
const SET_VERSION = 1

/** As a server makes it: a fixed half and the term, so that drivers know the later of two primaries. */
const electionIdOf = (term: number): BSON.ObjectId =>
  new BSON.ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`)

/** Which state of itself a member tells: drivers wait for the next, and ignore errors of an earlier one. */
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

/** What a member says of itself, as MongoDB 7.0 does. */
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

/** Whether the client knows the state that the member is in. */
export const isKnown = (seat: Seat, known: BSON.Document): boolean =>
  processId.equals(known['processId'] as BSON.ObjectId) && Number(known['counter']) === seat.version
