import type { ExecutionContext } from 'ava'
import { MongoClient, type Collection, type MongoClientOptions } from 'mongodb'
import { DURABLE, startMongoDouble, type MongoDouble } from '../doubles/mongodb/process.ts'

/** A document of the tests. */
export interface Numbered {
  readonly _id: number
  readonly a?: number
  readonly at?: Date
}

/** Options of a client that notices an election within half a second. */
export const POLLING = { ...DURABLE, heartbeatFrequencyMS: 500, serverMonitoringMode: 'poll' } as const

/** Starts a replica set of the double. `isLenient`: it accepts weak writes and records them. */
export const startDoubleSet = async (t: ExecutionContext, isLenient = false): Promise<MongoDouble> => {
  const double = await startMongoDouble({ replicaSet: 'rs0', isLenient })
  t.teardown(double.dispose)
  return double
}

/** Connects to an address and returns the collection of the tests. */
export const numbersAt = async (
  t: ExecutionContext,
  url: string,
  options: MongoClientOptions = POLLING,
): Promise<Collection<Numbered>> => {
  const client = await new MongoClient(url, options).connect()
  t.teardown(() => client.close())
  return client.db('test').collection<Numbered>('numbers')
}

/** Sets member `a` of document 1. */
export const setNumber = (numbers: Collection<Numbered>, a: number, options: object = {}) =>
  numbers.updateOne({ _id: 1 }, { $set: { a } }, { upsert: true, ...options })
