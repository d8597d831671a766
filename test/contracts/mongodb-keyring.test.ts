import { randomBytes } from 'node:crypto'
import test from 'ava'
import { openMongoKeyring } from '../../infrastructure/mongodb/keyring.ts'
import { keyringContract } from './keyring.contract.ts'
import { onEveryMongo } from './mongodb-support.ts'

onEveryMongo((name, open) => {
  keyringContract(name, async () => {
    const { connection, close } = await open()
    return { keyring: await openMongoKeyring(connection, randomBytes(32)), close }
  }, test.serial)
})
