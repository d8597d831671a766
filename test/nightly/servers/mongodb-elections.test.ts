import { randomBytes } from 'node:crypto'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { v7 } from 'uuid'
import type { Position } from '../../../application/ports/event-store.ts'
import type { Envelope } from '../../../domain/shared/event.ts'
import { connectMongo, type MongoConnection } from '../../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../../infrastructure/mongodb/documents.ts'
import { openMongoKeyring } from '../../../infrastructure/mongodb/keyring.ts'
import { documentsContract } from '../../contract/documents.contract.ts'
import { right } from '../../contract/event-store-support.ts'
import { keyringContract } from '../../contract/keyring.contract.ts'
import { checkpointAt } from '../../support/read-models/checkpoints.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { sealedMembers, plainMembers } from '../../support/events/sealed-texts.ts'
import { startMongoDouble, type MongoDouble } from '../../support/doubles/mongodb/process.ts'
import {
  createDisturbances, disturbDouble, disturbServer, type Disturbances,
} from '../../support/worlds/mongodb-elections.ts'
import { chanceOf } from '../../support/tools/seeded.ts'

/**
 * Runs the contracts of read models and keys during elections, deposed primaries and rollbacks. Refused requests are
 * repeated, and acknowledged writes must stay. STENOLOG_TEST_MONGO_URL selects a real set of three members instead of
 * the double. Its primary then steps down repeatedly.
 */
const REAL = process.env['STENOLOG_TEST_MONGO_URL']
const LIMIT_MS = 1500
const WRITERS = 4
const TURNS = Number(process.env['STENOLOG_TEST_TURNS'] ?? 12)

const position = (n: number): Position => String(n).padStart(20, '0') as Position

let double: MongoDouble | undefined
let disturbances: Disturbances | undefined

test.before(async (t) => {
  const { random } = chanceOf(t)
  if (REAL !== undefined) disturbances = createDisturbances(disturbServer(REAL))
  else {
    double = await startMongoDouble({ replicaSet: 'rs0' })
    disturbances = createDisturbances(disturbDouble(double, random('fate')))
  }
})
test.after.always(async (t) => {
  t.log(`turns: ${disturbances?.turns()}`)
  await disturbances?.stop()
  await double?.dispose()
})

/** Connects to a database, by default to a new one. Retries until the connection succeeds. */
const connected = async (database = `stenolog_test_${v7().replaceAll('-', '')}`): Promise<MongoConnection> => {
  const url =
    double?.url(database) ?? (REAL ?? '').replace(/^(mongodb(?:\+srv)?:\/\/[^/?]+)(?:\/[^?]*)?/, `$1/${database}`)
  return eventually(() => connectMongo(url, { limitMs: LIMIT_MS }), { timeoutMs: 120_000 })
}

/** Wraps a port so that refused requests are repeated. */
const retrying = <Port extends object>(port: Port): Port => {
  if (disturbances === undefined) throw new Error('the disturbances have not started')
  return disturbances.retrying(port)
}

documentsContract('mongodb in elections', async () => {
  const connection = await connected()
  return { documents: retrying(createMongoDocuments(connection)), close: connection.close }
}, test.serial)

keyringContract('mongodb in elections', async () => {
  const connection = await connected()
  const masterKey = randomBytes(32)
  const keyring = await eventually(() => openMongoKeyring(connection, masterKey), { timeoutMs: 120_000 })
  return { keyring: retrying(keyring), close: connection.close }
}, test.serial)

test.serial('acknowledged documents, checkpoints, keys and erasures survive elections', async (t) => {
  t.timeout(20 * 60_000)
  const lastTurn = (disturbances?.turns() ?? 0) + TURNS
  const database = `stenolog_test_${v7().replaceAll('-', '')}`
  const masterKey = randomBytes(32)
  const lives = [{ name: 'lives', indexes: [['id']] }]
  const [setup, stored, sealed, erased] = [
    await connected(database),
    new Map<string, number>(),
    new Map<string, Envelope>(),
    new Set<string>(),
  ]
  t.teardown(setup.close)
  await right(retrying(createMongoDocuments(setup)).ensure(lives))

  const writer = async (index: number): Promise<void> => {
    const connection = await connected(database)
    const documents = retrying(createMongoDocuments(connection))
    const keyring = retrying(await eventually(() => openMongoKeyring(connection, masterKey), { timeoutMs: 120_000 }))
    for (let n = 1; (disturbances?.turns() ?? lastTurn) < lastTurn; n += 1) {
      // All writers write the same documents, so they overtake each other.
      const [id, v] = [String(n % 7), n * WRITERS + index]
      const put = {
        kind: 'put',
        collection: 'lives',
        id,
        document: { id: Number(id), v },
        position: position(v),
      } as const
      await right(
        documents.commit({ projection: `writer ${index}`, collection: null }, [put], checkpointAt(position(v))),
      )
      stored.set(id, Math.max(stored.get(id) ?? 0, v))
      stored.set(`writer ${index}`, v)
      const key = `user-${index}-${n}`
      const [envelope] = await right(keyring.seal(key, plainMembers([key])))
      if (envelope !== undefined) sealed.set(key, envelope)
      if (n % 3 !== 0) continue
      await right(keyring.erase([key]))
      erased.add(key)
    }
    await connection.close()
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, index) => writer(index)))

  const connection = await connected(database)
  t.teardown(connection.close)
  const documents = retrying(createMongoDocuments(connection))
  for (const [id, v] of stored) {
    if (id.startsWith('writer'))
      t.is((await right(documents.checkpoint({ projection: id, collection: null }))).position, position(v), id)
    else t.like(await right(documents.get('lives', id)), { value: { v } }, id)
  }
  const keyring = retrying(await eventually(() => openMongoKeyring(connection, masterKey), { timeoutMs: 120_000 }))
  const keys = [...sealed.keys()]
  const opened = await right(keyring.open(sealedMembers([...sealed.values()])))
  const expected = keys.map((key) => (erased.has(key) ? E.left({ _tag: 'KeyErased', key }) : E.right(key)))
  t.deepEqual(opened, expected)
  t.log(
    `${keys.length} keys, ${erased.size} of them erased, ` +
      `${Math.max(0, ...stored.values()) / WRITERS} documents per writer`,
  )
  if (double !== undefined) t.deepEqual((await double.state()).weakWrites, [])
})
