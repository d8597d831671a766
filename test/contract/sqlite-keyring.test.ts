import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openSqliteKeyring } from '../../infrastructure/sqlite/keyring/keyring.ts'
import { temporaryDirectory } from '../support/tools/temporary-directory.ts'
import { keyringContract } from './keyring.contract.ts'

keyringContract('sqlite', async () => {
  const { path, remove } = await temporaryDirectory()
  const keyring = await openSqliteKeyring({ file: join(path, 'keyring.db'), masterKey: randomBytes(32) })
  return {
    keyring,
    close: async () => {
      await keyring.close()
      await remove()
    },
  }
})
