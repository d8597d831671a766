import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../../../application/ports/documents.ts'
import type { Position } from '../../../application/ports/event-store.ts'
import { connectMongo, type MongoConnection } from '../../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../../infrastructure/mongodb/documents.ts'
import { openMongoKeyring } from '../../../infrastructure/mongodb/keyring.ts'
import { right } from '../../contract/event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { plainMembers } from '../../support/events/sealed-texts.ts'
import { startMongoDouble, type MongoDouble } from '../../support/doubles/mongodb/process.ts'
import { checkpointAt } from '../../support/read-models/checkpoints.ts'

const LIVES = { name: 'lives', indexes: [['id']] }
const MODEL = { projection: 'lives', collection: 'lives' }
const positionOf = (n: number): Position => String(n).padStart(20, '0') as Position

/** Returns the number that each kind of read sees in document 1, and then the number of the checkpoint. */
const numbersSeen = async (documents: Documents): Promise<ReadonlyArray<unknown>> => {
  const page = { filter: {}, sort: { by: 'id', direction: 'ascending' }, skip: 0, limit: 10 } as const
  const [listed] = await right(documents.page('lives', page))
  const [scanned] = await right(documents.scan('lives', null, 10))
  const got = await right(documents.get('lives', '1'))
  const checkpoint = await right(documents.checkpoint(MODEL))
  return [
    listed?.['n'],
    scanned?.document?.['n'],
    got._tag === 'Some' ? got.value['n'] : null,
    Number(checkpoint.position),
  ]
}

/** Waits until the value equals the wanted value. */
const until = (read: () => Promise<unknown>, wanted: unknown): Promise<void> =>
  eventually(async () => {
    const found = await read()
    if (found !== wanted) throw new Error(`${String(read)} is ${String(found)}, not ${String(wanted)}`)
  })

const accepted = async (outcome: Promise<E.Either<unknown, unknown>>): Promise<boolean> => E.isRight(await outcome)

interface World {
  readonly double: MongoDouble
  readonly connection: MongoConnection
  readonly documents: Documents
  readonly put: (n: number, id?: string) => ReturnType<Documents['commit']>
}

/** Returns a function that stores a number in the document with an id. */
const putVia = (documents: Documents): World['put'] => (n, id = '1') => {
  const document = { id: Number(id), n }
  return documents.commit(
    MODEL,
    [{ kind: 'put', collection: 'lives', id, document, position: positionOf(n) }],
    checkpointAt(positionOf(n)),
  )
}

/** Starts a replica set. All its members have document 1 with the number 1. */
const openWorld = async (t: ExecutionContext, query = '', limitMs = 500): Promise<World> => {
  const double = await startMongoDouble({ replicaSet: 'rs0' })
  t.teardown(double.dispose)
  const connection = await connectMongo(`${double.url('test')}${query}`, { limitMs })
  t.teardown(connection.close)
  const documents = createMongoDocuments(connection)
  await right(documents.ensure([LIVES]))
  const put = putVia(documents)
  await until(() => accepted(put(1)), true)
  return { double, connection, documents, put }
}

const URLS = ['', '&w=1&journal=false&readPreference=secondary&readConcernLevel=local']

for (const query of URLS) {
  const condition = query === '' ? '' : ', despite the connection string'

  test.serial(`reads see no data that an election can remove${condition}`, async (t) => {
    const { double, documents, put } = await openWorld(t, query)
    await double.cutOff()
    t.true(E.isLeft(await put(2)))
    t.deepEqual(await numbersSeen(documents), [1, 1, 1, 1])
    await double.rollBack()
    t.deepEqual(await numbersSeen(documents), [1, 1, 1, 1])
    await until(() => accepted(put(3)), true)
    t.deepEqual(await numbersSeen(documents), [3, 3, 3, 3])
  })

  test.serial(`reads see acknowledged writes at once, despite a lagging secondary${condition}`, async (t) => {
    const { double, documents, put } = await openWorld(t, query)
    await double.lag()
    await until(() => accepted(put(2)), true)
    t.deepEqual(await numbersSeen(documents), [2, 2, 2, 2])
  })
}

test.serial('a document of a lost primary does not count as stored', async (t) => {
  const { double, documents, put } = await openWorld(t, '', 5000)
  const firstConnection = await connectMongo(double.url('test'), { limitMs: 5000 })
  await double.cutOff()
  const firstTry = putVia(createMongoDocuments(firstConnection))(2, '2')
  // The insert of the first try waits for its majority. The second try is held at its checkpoint.
  await until(async () => (await double.state()).waiting, 1)
  await double.inject({ command: 'update', effect: 'hold', times: 1 })
  const secondTry = put(2, '2')
  await until(async () => {
    const { held, waiting } = await double.state()
    return held + waiting
  }, 2)
  // The first writer dies. Otherwise its driver would repeat the lost insert and restore the document.
  await firstConnection.close()
  t.true(E.isLeft(await firstTry))
  await double.rollBack()
  await double.heal()
  if (E.isRight(await secondTry)) t.like(await right(documents.get('lives', '2')), { value: { n: 2 } })
  await until(() => accepted(put(2, '2')), true)
  t.like(await right(documents.get('lives', '2')), { value: { n: 2 } })
})

test.serial('an overtaken writer does not overwrite newer data', async (t) => {
  // The first writer is held while the second one stores a later position.
  const { double, documents, put } = await openWorld(t, '', 20_000)
  await double.inject({ command: 'update', effect: 'hold', times: 1 })
  const overtaken = put(2)
  await until(async () => (await double.state()).held, 1)
  t.deepEqual(await put(3), E.right(undefined))
  await double.heal()
  t.deepEqual(await overtaken, E.right(undefined))
  t.deepEqual(await numbersSeen(documents), [3, 3, 3, 3])
})

test.serial('a slow server cancels abandoned requests, and no connection is lost', async (t) => {
  const { double, connection, documents, put } = await openWorld(t)
  const keyring = await openMongoKeyring(connection, randomBytes(32))
  const slowReads = async (): Promise<void> => {
    await double.inject({ command: 'find', effect: 'hold', times: 1_000_000 })
    const reads = Array.from({ length: 40 }, () => documents.get('lives', '1'))
    for (const outcome of await Promise.all(reads)) t.true(E.isLeft(outcome))
    await until(async () => (await double.state()).held, 0)
    await double.heal()
  }
  // The first requests open the maximum number of connections.
  await slowReads()
  const before = await double.state()
  await slowReads()

  await double.cutOff()
  const writes = Array.from({ length: 8 }, (_, n) => keyring.seal(`user-${n}`, plainMembers(['Alice'])))
  t.true(E.isLeft(await put(2)))
  for (const outcome of await Promise.all(writes)) t.true(E.isLeft(outcome))
  await until(async () => (await double.state()).waiting, 0)
  await double.catchUp()

  await until(() => accepted(put(2)), true)
  t.is((await double.state()).connections, before.connections)
})

test.serial('creating an index may take longer than other requests', async (t) => {
  const { double, documents } = await openWorld(t)
  await double.inject({ command: 'createIndexes', effect: 'hold', times: 1 })
  const ensured = documents.ensure([{ ...LIVES, indexes: [['id'], ['userId']] }])
  await until(async () => (await double.state()).held, 1)
  await double.inject({ command: 'find', effect: 'hold', times: 1_000_000 })
  // Each request runs into its timeout.
  for (let request = 0; request < 4; request += 1) t.true(E.isLeft(await documents.get('lives', '1')))
  await until(async () => (await double.state()).held, 1)
  await double.heal()
  t.true(E.isRight(await ensured))
})
