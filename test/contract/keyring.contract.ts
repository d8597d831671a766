import test, { type ExecutionContext, type SerialFn } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Keyring } from '../../application/ports/keyring.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { sealedMembers, PLACE, plainMembers } from '../support/events/sealed-texts.ts'
import { right } from './event-store-support.ts'

const erased = (key: string) => E.left({ _tag: 'KeyErased', key })

export interface OpenedKeyring {
  readonly keyring: Keyring
  readonly close: () => Promise<void>
}

/** Tests every keyring. Each call of `open` returns an independent keyring. */
export const keyringContract = (
  name: string,
  open: () => Promise<OpenedKeyring>,
  run: SerialFn | typeof test = test,
): void => {
  const on = (title: string, body: (t: ExecutionContext, keyring: Keyring) => Promise<void>): void => {
    run(`${name}: ${title}`, async (t) => {
      const { keyring, close } = await open()
      try {
        await body(t, keyring)
      } finally {
        await close()
      }
    })
  }
  const sealOne = async (keyring: Keyring, key: string, text: string, place = PLACE): Promise<Envelope> => {
    const [envelope] = await right(keyring.seal(key, plainMembers([text], place)))
    if (envelope === undefined) throw new Error('no envelope came back')
    return envelope
  }

  on('sealed texts open again in the requested order', async (t, keyring) => {
    const texts = ['Alice', '', 'Größe 🎙 \u2028', 'x'.repeat(100_000)]
    const sealed = await right(keyring.seal('user-1', plainMembers(texts)))
    const other = await sealOne(keyring, 'live-1', 'https://example.org/a.mp3')
    t.deepEqual(
      await right(keyring.open(sealedMembers([other, ...sealed]))),
      ['https://example.org/a.mp3', ...texts].map(E.right),
    )
  })

  on('an envelope names its key and reveals nothing of its text', async (t, keyring) => {
    const [first, second] = await right(keyring.seal('user-1', plainMembers(['Alice', 'Alice'])))
    t.is(first?.k, 'user-1')
    t.false(
      JSON.stringify(first).includes('Alice') ||
        JSON.stringify(first).includes(Buffer.from('Alice').toString('base64')),
    )
    t.notDeepEqual(first, second)
  })

  on('sealing and opening an empty list returns an empty list', async (t, keyring) => {
    t.deepEqual(await right(keyring.seal('user-1', plainMembers([]))), [])
    t.deepEqual(await right(keyring.open(sealedMembers([]))), [])
  })

  on('concurrent seals under a new key share one key', async (t, keyring) => {
    const envelopes = await Promise.all(Array.from({ length: 50 }, (_, n) => sealOne(keyring, 'user-1', String(n))))
    t.deepEqual(await right(keyring.open(sealedMembers(envelopes))), envelopes.map((_, n) => E.right(String(n))))
  })

  on('an erased key neither opens nor seals, and other keys keep working', async (t, keyring) => {
    const [alice, bob] = [await sealOne(keyring, 'user-1', 'Alice'), await sealOne(keyring, 'user-2', 'Bob')]
    await right(keyring.erase(['user-1', 'never-made']))
    t.deepEqual(await right(keyring.open(sealedMembers([alice, bob]))), [erased('user-1'), E.right('Bob')])
    t.deepEqual(await keyring.seal('user-1', plainMembers(['again'])), E.left({ _tag: 'KeyErased', key: 'user-1' }))
    t.deepEqual(
      await keyring.seal('never-made', plainMembers(['now'])),
      E.left({ _tag: 'KeyErased', key: 'never-made' }),
    )
    await right(keyring.erase(['user-1']))
    t.deepEqual(await right(keyring.open(sealedMembers([alice, bob]))), [erased('user-1'), E.right('Bob')])
  })

  on('a seal concurrent with the erasure leaves nothing readable', async (t, keyring) => {
    await sealOne(keyring, 'user-1', 'before')
    const [sealed] = await Promise.all([keyring.seal('user-1', plainMembers(['during'])), keyring.erase(['user-1'])])
    const envelopes = E.isRight(sealed) ? sealed.right : []
    t.deepEqual(await right(keyring.open(sealedMembers(envelopes))), envelopes.map(() => erased('user-1')))
  })

  on('a changed envelope does not open, and the others still open', async (t, keyring) => {
    const envelope = await sealOne(keyring, 'user-1', 'Alice')
    const other = await sealOne(keyring, 'user-2', 'Bob')
    const flipped = Buffer.from(envelope.c, 'base64')
    flipped.writeUInt8(flipped.readUInt8(0) ^ 1, 0)
    for (const changed of [
      { ...envelope, c: flipped.toString('base64') },
      { ...envelope, k: 'user-2' },
      { ...envelope, c: '' },
      { ...envelope, iv: '' },
    ])
      t.deepEqual(await right(keyring.open(sealedMembers([changed, other]))), [
        E.left({ _tag: 'EnvelopeForeign', key: changed.k }),
        E.right('Bob'),
      ])
  })

  on('an envelope of another keyring does not open', async (t, keyring) => {
    const otherKeyring = await open()
    const foreign = await sealOne(otherKeyring.keyring, 'user-1', 'Alice')
    await otherKeyring.close()
    await sealOne(keyring, 'user-1', 'Bob')
    t.deepEqual(await right(keyring.open(sealedMembers([foreign]))), [
      E.left({ _tag: 'EnvelopeForeign', key: 'user-1' }),
    ])
  })

  on('an envelope opens only in its stream and for its member', async (t, keyring) => {
    const place = { stream: 'live-1', member: 'LiveCreated.senderToken' }
    const envelope = await sealOne(keyring, 'live-1', 'secret', place)
    t.deepEqual(await right(keyring.open(sealedMembers([envelope], place))), [E.right('secret')])
    const several = [
      { envelope, key: 'live-1', stream: 'live-1', members: ['LiveCreated.listenerToken', place.member] },
    ]
    t.deepEqual(await right(keyring.open(several)), [E.right('secret')])
    const foreign = [E.left({ _tag: 'EnvelopeForeign', key: 'live-1' })]
    for (const elsewhere of [
      { ...place, stream: 'live-2' },
      { ...place, member: 'LiveCreated.listenerToken' },
      { ...place, member: 'Other.senderToken' },
    ])
      t.deepEqual(await right(keyring.open(sealedMembers([envelope], elsewhere))), foreign, JSON.stringify(elsewhere))
    // An envelope without its member mark `m`, or with another mark, does not open either.
    const { m: _, ...stripped } = envelope
    t.deepEqual(await right(keyring.open(sealedMembers([stripped], place))), foreign)
    const moved = { stream: 'live-1', member: 'LiveCreated.listenerToken' }
    t.deepEqual(await right(keyring.open(sealedMembers([{ ...envelope, m: moved.member }], moved))), foreign)
  })

  on('an envelope with an unknown key is reported as missing, and the others still open', async (t, keyring) => {
    const otherKeyring = await open()
    const lost = await sealOne(otherKeyring.keyring, 'user-9', 'Zoe')
    await otherKeyring.close()
    const bob = await sealOne(keyring, 'user-1', 'Bob')
    t.deepEqual(keyring.missing(), [])
    const missing = E.left({ _tag: 'KeyMissing', key: 'user-9' })
    t.deepEqual(await right(keyring.open(sealedMembers([lost, bob]))), [missing, E.right('Bob')])
    t.deepEqual(keyring.missing(), ['user-9'])
    // A new key with this name would permanently hide texts that the old key could still open.
    t.deepEqual(await keyring.seal('user-9', plainMembers(['again'])), missing)
    t.deepEqual(await right(keyring.open(sealedMembers([lost]))), [missing])
    await right(keyring.erase(['user-9']))
    t.deepEqual(keyring.missing(), [])
    t.deepEqual(await right(keyring.open(sealedMembers([lost]))), [erased('user-9')])
  })
}
