import { randomBytes } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { MongoClient } from 'mongodb'
import type { Documents } from '../../../application/ports/documents.ts'
import type { Position } from '../../../application/ports/event-store.ts'
import { connectMongo, type MongoConnection } from '../../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../../infrastructure/mongodb/documents.ts'
import { openMongoKeyring } from '../../../infrastructure/mongodb/keyring.ts'
import { right } from '../../contract/event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import type { Fault } from '../../support/doubles/mongodb/faults.ts'
import { DURABLE, startMongoDouble, type MongoDouble } from '../../support/doubles/mongodb/process.ts'
import { sealedMembers, plainMembers } from '../../support/events/sealed-texts.ts'
import { checkpointAt, duty } from '../../support/read-models/checkpoints.ts'

const LIVES = { name: 'lives', indexes: [['userId', 'id'], ['id']] }
const MODEL = { projection: 'lives', collection: 'lives' }
const positionOf = (n: number): Position => String(n).padStart(20, '0') as Position

interface World {
  readonly double: MongoDouble
  readonly connection: MongoConnection
  readonly documents: Documents
  /** Commits a document whose member `n` is the position, and the checkpoint of the position. */
  readonly put: (id: string, position: number) => ReturnType<Documents['commit']>
  readonly positions: () => Promise<ReadonlyArray<unknown>>
}

const openWorld = async (t: ExecutionContext, replicaSet = ''): Promise<World> => {
  const double = await startMongoDouble({ replicaSet })
  const connection = await connectMongo(double.url('test'))
  t.teardown(async () => {
    await connection.close()
    await double.dispose()
  })
  const documents = createMongoDocuments(connection)
  await right(documents.ensure([LIVES]))
  return {
    double,
    connection,
    documents,
    put: (id, position) =>
      documents.commit(
        MODEL,
        [{
          kind: 'put',
          collection: 'lives',
          id,
          document: { id: Number(id), n: position },
          position: positionOf(position),
        }],
        checkpointAt(positionOf(position)),
      ),
    positions: async () => {
      const page = () => documents.page('lives', {
        filter: {},
        sort: { by: 'id', direction: 'ascending' },
        skip: 0,
        limit: 100,
      })
      return (await right(page())).map((document) => document['n'])
    },
  }
}

const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  eventually(async () => {
    if (!(await condition())) throw new Error(`still not: ${String(condition)}`)
  })

const assertUnavailable = (t: ExecutionContext, outcome: E.Either<unknown, unknown>): void => {
  t.like(outcome, { _tag: 'Left', left: { _tag: 'DocumentsUnavailable' } })
}

test.serial('requests to a frozen server fail without waiting for its return', async (t) => {
  const { double, connection, documents, put, positions } = await openWorld(t)
  const keyring = await openMongoKeyring(connection, randomBytes(32))
  const [sealed] = await right(keyring.seal('user-1', plainMembers(['Alice'])))
  t.deepEqual(await put('1', 1), E.right(undefined))
  double.freeze()
  const begin = performance.now()
  const [got, committed, created, erased] = await Promise.all([
    documents.get('lives', '1'),
    put('1', 2),
    keyring.seal('user-2', plainMembers(['Bob'])),
    keyring.erase(['user-3']),
  ])
  t.log(`four requests of a frozen server failed after ${Math.round(performance.now() - begin)} ms`)
  assertUnavailable(t, got)
  assertUnavailable(t, committed)
  for (const outcome of [created, erased]) t.like(outcome, { _tag: 'Left', left: { _tag: 'KeyringUnavailable' } })
  // Cached keys still work.
  t.deepEqual(await right(keyring.open(sealedMembers(sealed === undefined ? [] : [sealed]))), [E.right('Alice')])
  t.true(E.isRight(await keyring.seal('user-1', plainMembers(['again']))))
  await until(() => connection.unreachable() !== null)
  double.thaw()
  await until(async () => E.isRight(await put('1', 3)))
  t.deepEqual(await positions(), [3])
  await until(() => connection.unreachable() === null)
})

test.serial('a read model can be created after its server returns', async (t) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const connection = await connectMongo(double.url('test'))
  t.teardown(connection.close)
  const documents = createMongoDocuments(connection)
  await double.kill()
  assertUnavailable(t, await documents.ensure([LIVES]))
  await double.start()
  await until(async () => E.isRight(await documents.ensure([LIVES])))
})

const EFFECTS: ReadonlyArray<Fault['effect']> = ['drop-before', 'drop-after', 'hang', 'empty', 'garbled', 'not-primary']

for (const replicaSet of ['', 'rs0']) {
  test.serial(
    `a commit with a faulty request fails, and its retry is stored once (${replicaSet || 'standalone'})`,
    async (t) => {
      const { double, documents, put, positions } = await openWorld(t, replicaSet)
      let position = 0
      for (const effect of EFFECTS)
        for (const command of ['find', 'insert', 'update']) {
          position += 2
          const id = String(position)
          if (command === 'update') await until(async () => E.isRight(await put(id, position - 1)))
          await double.inject({ command, effect, times: 50 })
          const failed = await put(id, position)
          if (E.isRight(failed)) t.fail(`${command} with ${effect} succeeded despite the fault`)
          else assertUnavailable(t, failed)
          await double.heal()
          await until(async () => E.isRight(await put(id, position)))
          t.deepEqual(await put(id, position - 1), E.right(undefined))
        }
      t.deepEqual(await positions(), Array.from({ length: position / 2 }, (_, n) => (n + 1) * 2))
      t.is((await right(documents.checkpoint(MODEL))).position, positionOf(position))
    },
  )
}

test.serial('on a replica set the driver recognises the repeat of a write whose answer was lost', async (t) => {
  const { double, put, positions } = await openWorld(t, 'rs0')
  for (const command of ['insert', 'update']) {
    await double.inject({ command, effect: 'drop-after', times: 1 })
    t.deepEqual(await put('1', command === 'insert' ? 1 : 2), E.right(undefined))
  }
  t.deepEqual(await positions(), [2])
})

test.serial('two writers of the same documents leave the latest version of each document', async (t) => {
  const { double, documents, positions } = await openWorld(t)
  const second = await connectMongo(double.url('test'), { limitMs: 60_000 })
  const other = createMongoDocuments(second)
  t.teardown(second.close)
  const commit = (by: Documents, position: number) =>
    by.commit(duty(`writer ${position}`), ['1', '2', '3'].map((id) => ({
      kind: 'put' as const, collection: 'lives', id,
      document: { id: Number(id), n: position }, position: positionOf(position),
    })), checkpointAt(positionOf(position)))
  const shuffled = Array.from({ length: 60 }, (_, n) => ((n * 37) % 60) + 1)
  const slow = createMongoDocuments({ ...second, limitMs: 60_000 })
  await Promise.all(shuffled.map((position) => right(commit(position % 2 === 0 ? other : slow, position))))
  t.deepEqual(await positions(), [60, 60, 60])
  t.is((await right(documents.checkpoint(duty('writer 60')))).position, positionOf(60))
})

test.serial('the pointer of a read model selects its collection, and new collections have all indexes', async (t) => {
  const { double, documents, put, positions } = await openWorld(t)
  await put('1', 1)
  const client = new MongoClient(double.url('test'), DURABLE)
  t.teardown(() => client.close())
  const database = client.db('test')
  const indexes = await database.collection('lives_v1').indexes()
  t.deepEqual(
    indexes.map(({ key }) => key),
    [{ _id: 1 }, { 'body.userId': 1, 'body.id': 1, _id: 1 }, { 'body.id': 1, _id: 1 }],
  )
  await database
    .collection<{ _id: string }>('lives_v2')
    .insertOne({ _id: '2', v: positionOf(2), body: { id: 2, n: 7 } } as never)
  t.deepEqual(await positions(), [1])
  await database.collection<{ _id: string }>('collections').updateOne({ _id: 'lives' }, { $set: { version: 2 } })
  await until(async () => (await positions())[0] === 7)
  await right(documents.ensure([LIVES]))
  t.is((await database.collection('lives_v2').indexes()).length, 3)
  t.deepEqual(await positions(), [7])
})

test('connection errors of MongoDB contain no credentials', async (t) => {
  const error = await t.throwsAsync(
    connectMongo('mongodb://us%40er:pa%3Ass@127.0.0.1:1/other?tls=true&authSource=admin'),
  )
  t.regex(error?.message ?? '', /^cannot connect to the MongoDB of STENOLOG_MONGO_URL: /)
  const malformed = [
    'mongodb://us%40er:pa%3Ass@',
    'mongodb://user:pa%3Ass@127.0.0.1/?tls=maybe',
    'mongodb://user:pa%3Ass@127.0.0.1/?unknown=1',
    'mongodb://user:pa:ss@h',
    'mongodb://user:pa%3Ass/x@h',
    'mongodb://user:pa%3Ass%zz@h',
    'mongodb://user:pa%3Ass@x@h',
  ]
  for (const url of malformed) {
    const refused = await t.throwsAsync(connectMongo(url))
    t.regex(refused?.message ?? '', /^STENOLOG_MONGO_URL is not a valid connection string: /)
    t.notRegex(refused?.message ?? '', /pa%3Ass|pa:ss|us@er/)
  }
})
