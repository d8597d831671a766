import { createMemoryKeyring } from '../support/doubles/memory/keyring.ts'
import { keyringContract } from './keyring.contract.ts'

keyringContract('memory', () => {
  const keyring = createMemoryKeyring()
  return Promise.resolve({ keyring, close: keyring.close })
})
