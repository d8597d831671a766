import type { Option } from 'fp-ts/lib/Option.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import type { Envelope } from '../../domain/shared/event.ts'

export interface KeyringUnavailable {
  readonly _tag: 'KeyringUnavailable'
  readonly reason: string
}

/** The key was erased: nothing may be sealed with it again. */
export interface KeyErased {
  readonly _tag: 'KeyErased'
  readonly key: string
}

/** The keys of users and lives (AES-256-GCM), wrapped by the master key. Never in the log, never in a read model. */
export interface Keyring {
  /** Makes the key when it does not exist; it is durable before this answers. */
  readonly seal: (key: string, texts: ReadonlyArray<string>) => TaskEither<KeyringUnavailable | KeyErased, ReadonlyArray<Envelope>>
  /** In the order asked; none for an envelope whose key was erased. */
  readonly open: (envelopes: ReadonlyArray<Envelope>) => TaskEither<KeyringUnavailable, ReadonlyArray<Option<string>>>
  /** Erases for good, and remembers that it did. */
  readonly erase: (keys: ReadonlyArray<string>) => TaskEither<KeyringUnavailable, void>
  readonly close: () => Promise<void>
}
