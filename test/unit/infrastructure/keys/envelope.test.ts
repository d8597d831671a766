import { randomBytes } from 'node:crypto'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { encrypt, openText, sealText } from '../../../../infrastructure/keys/envelope.ts'
import { openKeyring } from '../../../../infrastructure/keys/keyring.ts'
import { deriveKey } from '../../../../infrastructure/keys/master-key.ts'
import { right } from '../../../contract/event-store-support.ts'
import { sealedMembers } from '../../../support/events/sealed-texts.ts'

// Existing logs and read models contain envelopes of both formats, so both must always open.
const KEY = Buffer.alloc(32, 1)
const TEXT = 'Größe 🎙'
const PLACE = { stream: 'user-7', member: 'UserRegistered.username' }
/** Format 1: bound only to the name of the key. */
const UNBOUND = { k: 'user-7', iv: 'yAQ2agERXpiLCOrt', c: 'XoHxQJLwUUnq8MoQucmGGiqvycGGksgVYAT9Ug==' }
/** Format 2: also bound to stream, event and member. */
const BOUND = {
  k: 'user-7',
  m: 'UserRegistered.username',
  iv: 'YmfKemwV1scsLq/r',
  c: 'Rbyq91qEA8KUVtYRbqQfpnyy3GXNm3aFGE6ozA==',
}

test('envelopes of both formats open', (t) => {
  t.is(openText(KEY, UNBOUND, 'user-7'), TEXT)
  t.is(openText(KEY, BOUND, 'user-7'), TEXT)
  const sealed = sealText(KEY, 'user-7', PLACE, TEXT)
  t.deepEqual(Object.keys(sealed), Object.keys(BOUND), 'new envelopes have format 2')
  t.is(openText(KEY, sealed, 'user-7'), TEXT)
})

test('a bound envelope does not open for another stream, event or key, or without its binding', (t) => {
  const { m: _, ...stripped } = BOUND
  for (const [envelope, stream] of [
    [BOUND, 'user-8'],
    [{ ...BOUND, m: 'PasswordChanged.passwordHash' }, 'user-7'],
    [{ ...BOUND, k: 'user-8' }, 'user-7'],
    [stripped, 'user-7'],
    [{ ...UNBOUND, m: BOUND.m }, 'user-7'],
    [{ ...UNBOUND, k: 'user-8' }, 'user-7'],
  ] as const)
    t.throws(
      () => openText(KEY, envelope, stream),
      { message: /belongs elsewhere or was changed/ },
      JSON.stringify(envelope),
    )
})

test('a keyring opens envelopes of both formats', async (t) => {
  const masterKey = randomBytes(32)
  const { iv, sealed } = encrypt(deriveKey(masterKey, 'keyring'), 'user-7', KEY)
  const keys = new Map([['user-7', Buffer.concat([iv, sealed])]])
  const keyring = await openKeyring({
    ensure: async (name, wrapped) => E.right(keys.get(name) ?? wrapped),
    find: async () => E.right(keys),
    erase: async () => E.left('not here'),
    close: () => Promise.resolve(),
  }, masterKey)
  t.deepEqual(await right(keyring.open(sealedMembers([UNBOUND, BOUND], PLACE))), [E.right(TEXT), E.right(TEXT)])
})
