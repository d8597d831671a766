import assert from 'node:assert/strict'
import test from 'ava'
import { requireAtomicUpdates } from '../../../infrastructure/mongodb/atomic-updates.ts'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { openTcpProxy } from '../../support/tools/tcp-proxy.ts'
import { onEveryMongo } from '../mongodb-support.ts'

onEveryMongo((name, open) => {
  test.serial(`${name}: the updates are atomic, and the check leaves no document`, async (t) => {
    const { connection, close } = await open()
    t.teardown(close)
    await t.notThrowsAsync(requireAtomicUpdates(connection))
    t.deepEqual(await connection.readModels.collection('scratch').find().toArray(), [])
  })
})

test('a server whose updates are not atomic is refused, with a reason for the operator', async (t) => {
  const double = await startMongoDouble({ isSplit: true })
  t.teardown(double.dispose)
  const connection = await connectMongo(double.url('unsafe'))
  t.teardown(connection.close)
  for (let tries = 0; tries < 5; tries += 1)
    await t.throwsAsync(requireAtomicUpdates(connection), {
      message: /^the server of \w+ is not safe to use: its updates are not atomic.* MongoDB 4\.4 or later$/,
    })
})

test('a server that does not answer for a while is checked again', async (t) => {
  const double = await startMongoDouble()
  t.teardown(double.dispose)
  const { host } = new URL(double.url('busy'))
  const proxy = await openTcpProxy(() => Number(new URL(`http://${host}`).port))
  t.teardown(proxy.close)
  const connection = await connectMongo(double.url('busy').replace(host, proxy.address))
  t.teardown(connection.close)
  proxy.cut()
  const checking = requireAtomicUpdates(connection)
  await eventually(() => assert.notEqual(connection.unreachable(), null))
  proxy.reset()
  proxy.mend()
  await t.notThrowsAsync(checking)
})
