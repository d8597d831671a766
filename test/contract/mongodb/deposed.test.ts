import { randomBytes } from 'node:crypto'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { connectMongo } from '../../../infrastructure/mongodb/connection.ts'
import { erasedLately, openMongoKeyring } from '../../../infrastructure/mongodb/keyring.ts'
import { right } from '../event-store-support.ts'
import { eventually } from '../../support/tools/eventually.ts'
import { plainMembers } from '../../support/events/sealed-texts.ts'
import { startMongoDouble } from '../../support/doubles/mongodb/process.ts'

/** The time limit of a call that waits for the acknowledgement of a majority. */
const LIMIT_MS = 1500

test('with only a deposed primary, erasures are unknown and sealing fails', async (t) => {
  const double = await startMongoDouble({ replicaSet: 'rs0' })
  t.teardown(double.dispose)
  const door = await double.door('here')
  const [masterKey, database] = [randomBytes(32), 'stenolog_test']
  const [here, there] = await Promise.all(
    [door.url, double.url].map((url) => connectMongo(url(database), { limitMs: LIMIT_MS })),
  )
  if (here === undefined || there === undefined) throw new Error('no connection')
  t.teardown(() => Promise.all([here.close(), there.close()]))
  const recentlyErased = erasedLately(here)
  t.deepEqual(await recentlyErased(), E.right([]))
  const elsewhere = await openMongoKeyring(there, masterKey)
  await right(elsewhere.seal('user-1', plainMembers(['Alice'])))
  // A separate keyring without cached keys: a cached key would need no server.
  const keyring = await openMongoKeyring(here, masterKey)

  await door.line('silent', [1, 2])
  await double.turn({ turn: 'depose', electionMs: 0 })
  await eventually(() => right(elsewhere.erase(['user-1'])))
  t.true(E.isLeft(await recentlyErased()))
  t.true(E.isLeft(await keyring.seal('user-1', plainMembers(['Alice again']))))

  await door.line('open')
  await double.turn({ turn: 'rejoin' })
  t.deepEqual(await eventually(async () => right(recentlyErased())), ['user-1'])
})
