import assert from 'node:assert/strict'
import test from 'ava'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { eventually } from '../../support/tools/eventually.ts'

test('the clock of the primary is compared with the clock of this machine, and followed', async (t) => {
  const double = await startMongoDouble({ replicaSet: 'rs0' })
  t.teardown(double.dispose)
  const connection = await connectMongo(double.url('stenolog_test'))
  t.teardown(connection.close)
  const isAbout = (ms: number) => eventually(() => assert(Math.abs(connection.clockSkewMs() - ms) < 2000))
  await double.turn({ turn: 'skew', member: 1, ms: 3_600_000 })
  for (const ms of [10_000, -10_000, 0]) {
    await double.turn({ turn: 'skew', member: 0, ms })
    await isAbout(ms)
  }
  t.pass()
})
