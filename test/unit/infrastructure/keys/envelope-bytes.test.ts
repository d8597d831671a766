import { randomBytes } from 'node:crypto'
import test from 'ava'
import { decrypt, encrypt } from '../../../../infrastructure/keys/envelope.ts'

const key = randomBytes(32)

test('data sealed under one name does not open under another name, even with the same key', (t) => {
  const { iv, sealed } = encrypt(key, 'user-1', Buffer.from('Alice'))
  t.is(decrypt(key, 'user-1', iv, sealed).toString(), 'Alice')
  for (const wrongName of ['user-2', 'user-', ''])
    t.throws(() => decrypt(key, wrongName, iv, sealed), { message: /belongs elsewhere or was changed/ }, wrongName)
})

test('an envelope has a fresh initialisation vector of 12 bytes and a tag of 16, and returns any bytes', (t) => {
  for (const text of ['', 'Alice', 'Ünïcödé 🎙', 'x'.repeat(10_000)]) {
    const [first, second] = [encrypt(key, 'user-1', Buffer.from(text)), encrypt(key, 'user-1', Buffer.from(text))]
    t.notDeepEqual(first.iv, second.iv)
    t.is(first.iv.length, 12)
    t.is(first.sealed.length, Buffer.byteLength(text) + 16)
    t.is(decrypt(key, 'user-1', first.iv, first.sealed).toString(), text)
  }
})

test('every changed or missing byte of an envelope is detected', (t) => {
  const { iv, sealed } = encrypt(key, 'user-1', Buffer.from('Alice'))
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed)
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at)
    t.throws(() => decrypt(key, 'user-1', iv, changed), { message: /belongs elsewhere or was changed/ }, `byte ${at}`)
  }
  t.throws(() => decrypt(key, 'user-1', iv, sealed.subarray(1)), { message: /belongs elsewhere or was changed/ })
  t.throws(() => decrypt(key, 'user-1', iv, sealed.subarray(0, 15)), { message: /malformed/ })
  t.throws(() => decrypt(key, 'user-1', iv.subarray(1), sealed), { message: /malformed/ })
  t.throws(() => decrypt(randomBytes(32), 'user-1', iv, sealed), { message: /belongs elsewhere or was changed/ })
})
