import { randomBytes } from 'node:crypto'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Position } from '../../../application/ports/event-store.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { createMongoDocuments } from '../../../infrastructure/mongodb/documents.ts'
import { openMongoKeyring } from '../../../infrastructure/mongodb/keyring.ts'
import { right } from '../../contract/event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { plainMembers } from '../../support/events/sealed-texts.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { checkpointAt } from '../../support/read-models/checkpoints.ts'

const MODEL = { projection: 'lives', collection: 'lives' }
const positionOf = (n: number): Position => String(n).padStart(20, '0') as Position

/** Number of unanswered requests: more than the driver has connections. */
const MANY = 40

for (const replicaSet of ['', 'rs0'])
  for (const command of ['find', 'insert', 'update', 'findAndModify'])
    test.serial(`${replicaSet || 'standalone'}: unanswered ${command} commands leak no connection`, async (t) => {
      const double = await startMongoDouble({ replicaSet })
      t.teardown(double.dispose)
      const connection = await connectMongo(double.url('test'), { limitMs: 500 })
      t.teardown(connection.close)
      const documents = createMongoDocuments(connection)
      const keyring = await openMongoKeyring(connection, randomBytes(32))
      await right(documents.ensure([{ name: 'lives', indexes: [['id']] }]))
      const put = (id: string, n: number) => {
        const document = { id, n }
        return documents.commit(
          MODEL,
          [{ kind: 'put', collection: 'lives', id, document, position: positionOf(n) }],
          checkpointAt(positionOf(n)),
        )
      }
      await eventually(async () => {
        if (E.isLeft(await put('old', 1))) throw new Error('the put fails')
      })

      await double.inject({ command, effect: 'hang', times: 1_000_000 })
      const unanswered = Array.from({ length: MANY }, async (_, n) => {
        if (command === 'find') return documents.get('lives', 'old')
        if (command === 'findAndModify') return keyring.seal(`user-${n}`, plainMembers(['Alice']))
        return put(command === 'insert' ? `new-${n}` : 'old', 2 + n)
      })
      for (const outcome of await Promise.all(unanswered)) t.true(E.isLeft<unknown>(outcome))
      t.is(connection.unreachable(), null)

      await double.heal()
      await eventually(async () => {
        const outcomes: ReadonlyArray<E.Either<unknown, unknown>> = [
          await put('old', 100), await put('last', 100),
          await documents.get('lives', 'old'), await keyring.seal('last', plainMembers(['Bob'])),
        ]
        for (const outcome of outcomes) if (E.isLeft(outcome)) throw new Error(`still ${JSON.stringify(outcome.left)}`)
      })
      t.like(await right(documents.get('lives', 'old')), { value: { n: 100 } })
    })
