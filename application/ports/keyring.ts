import type { Either } from 'fp-ts/lib/Either.js'
import type { Envelope } from '../../domain/shared/event.ts'

export interface KeyringUnavailable {
  readonly _tag: 'KeyringUnavailable'
  readonly reason: string
}

/** The key was erased and must not be used again. */
export interface KeyErased {
  readonly _tag: 'KeyErased'
  readonly key: string
}

/**
 * The log contains members that are encrypted with this key, but the keyring is older than the log and lacks the key.
 * No new key gets this name, so everything can be decrypted after the right keyring is restored.
 */
export interface KeyMissing {
  readonly _tag: 'KeyMissing'
  readonly key: string
}

/** The envelope (an encrypted member) was changed, or copied from another event or stream. */
export interface EnvelopeForeign {
  readonly _tag: 'EnvelopeForeign'
  readonly key: string
}

/** The stream and the member to which an envelope belongs. */
export interface Place {
  readonly stream: string
  /** Event type and member name: `UserRegistered.username`. */
  readonly member: string
}

export interface PlainMember extends Place {
  readonly text: string
}

export interface SealedMember {
  readonly envelope: Envelope
  /** Name of the key that must have sealed the envelope. */
  readonly key: string
  /** The stream for which the envelope was sealed. */
  readonly stream: string
  /** The members for which it may have been sealed. There may be several, because read models copy envelopes. */
  readonly members: ReadonlyArray<string>
}

/** The reason why an envelope cannot be opened. */
export type Unopened = KeyErased | KeyMissing | EnvelopeForeign

/**
 * The keys of users and sessions (AES-256-GCM), encrypted with the master key. They are never stored in the log or in a
 * read model.
 */
export interface Keyring {
  /** Encrypts members. Creates the key if it does not exist, and stores it durably before it returns. */
  readonly seal: (
    key: string,
    members: ReadonlyArray<PlainMember>,
  ) => Promise<Either<KeyringUnavailable | KeyErased | KeyMissing, ReadonlyArray<Envelope>>>
  /** Decrypts members. The results have the order of `sealed`. */
  readonly open: (
    sealed: ReadonlyArray<SealedMember>,
  ) => Promise<Either<KeyringUnavailable, ReadonlyArray<Either<Unopened, string>>>>
  /** Erases keys permanently and records the erasure. */
  readonly erase: (keys: ReadonlyArray<string>) => Promise<Either<KeyringUnavailable, void>>
  /** Names of the missing keys that were needed so far, in any order. */
  readonly missing: () => ReadonlyArray<string>
  /** The first 1000 streams with an envelope that was changed or copied from elsewhere. */
  readonly foreign: () => ReadonlyArray<string>
  readonly close: () => Promise<void>
}

/** Memory with data in clear text that was sealed with keys. */
export interface KeyedMemory {
  readonly forget: (keys: ReadonlyArray<string>) => void
  /** Forgets the data of all other keys. */
  readonly keepOnly: (keys: ReadonlyArray<string>) => void
}
