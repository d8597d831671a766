import test, { type ExecutionContext, type SerialFn } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import * as O from 'fp-ts/lib/Option.js'
import type { Keyring } from '../../application/ports/keyring.ts'
import type { Envelope } from '../../domain/shared/event.ts'
import { right } from './event-store-support.ts'

export interface OpenedKeyring {
  readonly keyring: Keyring
  readonly close: () => Promise<void>
}

/** What every keyring does, each of its tests on a keyring of its own; `open` twice gives two that know nothing of each other. */
export const keyringContract = (name: string, open: () => Promise<OpenedKeyring>, run: SerialFn | typeof test = test): void => {
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
  const sealOne = async (keyring: Keyring, key: string, text: string): Promise<Envelope> => {
    const [envelope] = await right(keyring.seal(key, [text]))
    if (envelope === undefined) throw new Error('no envelope came back')
    return envelope
  }

  on('D59: what is sealed opens again, in the order asked', async (t, keyring) => {
    const texts = ['Alice', '', 'Größe 🎙 \u2028', 'x'.repeat(100_000)]
    const sealed = await right(keyring.seal('user-1', texts))
    const other = await sealOne(keyring, 'live-1', 'https://example.org/a.mp3')
    t.deepEqual(await right(keyring.open([other, ...sealed])), ['https://example.org/a.mp3', ...texts].map(O.some))
  })

  on('D59: an envelope names its key and tells nothing of its text', async (t, keyring) => {
    const [one, two] = await right(keyring.seal('user-1', ['Alice', 'Alice']))
    t.is(one?.k, 'user-1')
    t.false(JSON.stringify(one).includes('Alice') || JSON.stringify(one).includes(Buffer.from('Alice').toString('base64')))
    t.notDeepEqual(one, two)
  })

  on('nothing sealed, nothing opened', async (t, keyring) => {
    t.deepEqual(await right(keyring.seal('user-1', [])), [])
    t.deepEqual(await right(keyring.open([])), [])
  })

  on('seals of a new key at the same moment use one key', async (t, keyring) => {
    const envelopes = await Promise.all(Array.from({ length: 50 }, (_, n) => sealOne(keyring, 'user-1', String(n))))
    t.deepEqual(await right(keyring.open(envelopes)), envelopes.map((_, n) => O.some(String(n))))
  })

  on('D59: an erased key opens nothing and seals nothing, others go on', async (t, keyring) => {
    const [alice, bob] = [await sealOne(keyring, 'user-1', 'Alice'), await sealOne(keyring, 'user-2', 'Bob')]
    await right(keyring.erase(['user-1', 'never-made']))
    t.deepEqual(await right(keyring.open([alice, bob])), [O.none, O.some('Bob')])
    t.deepEqual(await keyring.seal('user-1', ['again'])(), E.left({ _tag: 'KeyErased', key: 'user-1' }))
    t.deepEqual(await keyring.seal('never-made', ['now'])(), E.left({ _tag: 'KeyErased', key: 'never-made' }))
    await right(keyring.erase(['user-1']))
    t.deepEqual(await right(keyring.open([alice, bob])), [O.none, O.some('Bob')])
  })

  on('a seal at the moment of the erasure leaves nothing that can be read', async (t, keyring) => {
    await sealOne(keyring, 'user-1', 'before')
    const [sealed] = await Promise.all([keyring.seal('user-1', ['during'])(), keyring.erase(['user-1'])()])
    const envelopes = E.isRight(sealed) ? sealed.right : []
    t.deepEqual(await right(keyring.open(envelopes)), envelopes.map(() => O.none))
  })

  on('a changed envelope is a defect', async (t, keyring) => {
    const envelope = await sealOne(keyring, 'user-1', 'Alice')
    await sealOne(keyring, 'user-2', 'Bob')
    const flipped = Buffer.from(envelope.c, 'base64')
    flipped.writeUInt8(flipped.readUInt8(0) ^ 1, 0)
    for (const changed of [{ ...envelope, c: flipped.toString('base64') }, { ...envelope, k: 'user-2' }, { ...envelope, c: '' }, { ...envelope, iv: '' }]) {
      await t.throwsAsync(keyring.open([changed]))
    }
  })

  on('an envelope of another keyring is a defect', async (t, keyring) => {
    const other = await open()
    const [foreign, unknown] = [await sealOne(other.keyring, 'user-1', 'Alice'), await sealOne(other.keyring, 'user-9', 'Zoe')]
    await other.close()
    await sealOne(keyring, 'user-1', 'Bob')
    await t.throwsAsync(keyring.open([foreign]))
    await t.throwsAsync(keyring.open([unknown]))
  })
}
