import type { Either } from 'fp-ts/lib/Either.js'
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

/**
 * Something is sealed with the key, yet this keyring never made it: it is older than the log. Nothing more is sealed
 * under that name, so that all of it opens once the right keyring is put back.
 */
export interface KeyMissing {
  readonly _tag: 'KeyMissing'
  readonly key: string
}

/** The envelope was changed, or stands where it was not sealed. */
export interface EnvelopeForeign {
  readonly _tag: 'EnvelopeForeign'
  readonly key: string
}

/** Where a personal member stands in the log. */
export interface Place {
  readonly stream: string
  /** Type of the event and name of the member: `UserRegistered.username`. */
  readonly member: string
}

export interface PlainMember extends Place {
  readonly text: string
}

export interface SealedMember {
  readonly envelope: Envelope
  /** The key that it must be sealed with. */
  readonly key: string
  /** The stream that it was sealed for. */
  readonly stream: string
  /** What it may have been sealed as: several where a read model holds what different events say. */
  readonly members: ReadonlyArray<string>
}

/** Why an envelope does not open. */
export type Unopened = KeyErased | KeyMissing | EnvelopeForeign

/** The keys of users and lives (AES-256-GCM), wrapped by the master key. Never in the log, never in a read model. */
export interface Keyring {
  /** Makes the key when it does not exist; it is durable before this answers. */
  readonly seal: (
    key: string,
    members: ReadonlyArray<PlainMember>,
  ) => TaskEither<KeyringUnavailable | KeyErased | KeyMissing, ReadonlyArray<Envelope>>
  /** In the order asked. */
  readonly open: (
    sealed: ReadonlyArray<SealedMember>,
  ) => TaskEither<KeyringUnavailable, ReadonlyArray<Either<Unopened, string>>>
  /** Erases for good, and remembers that it did. */
  readonly erase: (keys: ReadonlyArray<string>) => TaskEither<KeyringUnavailable, void>
  /** Names of the keys that were needed so far and are missing, in no order. */
  readonly missing: () => ReadonlyArray<string>
  /** Streams for which envelopes were shown so far that are none of theirs, the first 1000. */
  readonly foreign: () => ReadonlyArray<string>
  readonly close: () => Promise<void>
}
