import * as E from 'fp-ts/lib/Either.js'
import type { User } from '../../../domain/user/decider.ts'
import type { WriteDeps } from '../../log/handle-command.ts'
import { originOf } from '../../log/origin.ts'
import { sendToUser } from '../../log/send-to.ts'
import type { Credentials } from '../../ports/credentials.ts'
import type { Logger } from '../../ports/environment.ts'

export interface RehashDeps extends WriteDeps {
  readonly credentials: Pick<Credentials, 'hashPassword' | 'isOutdated'>
  readonly logger: Logger
}

export interface Rehash {
  /**
   * Hashes a verified password again in the background when its stored hash is weaker than the current settings. After
   * a failure the next login tries again.
   */
  readonly begin: (user: User, password: string) => void
  /** Resolves when no hashing or write is running. */
  readonly settled: () => Promise<void>
}

const NOT_REHASHED = 'a password could not be hashed again'

export const createRehash = (deps: RehashDeps): Rehash => {
  const { credentials, logger } = deps
  const running = new Map<number, Promise<void>>()

  const write = async ({ userId, passwordHash: oldHash }: User, password: string): Promise<void> => {
    const hashed = await credentials.hashPassword(password)
    if (E.isLeft(hashed)) return logger.warn({ userId, refusal: hashed.left._tag }, NOT_REHASHED)
    const command = { type: 'Rehash', oldHash, passwordHash: hashed.right } as const
    const stored = await sendToUser(deps)(userId, command, originOf(deps, 'service'))
    if (E.isLeft(stored)) logger.warn({ userId, refusal: stored.left._tag }, NOT_REHASHED)
  }

  return {
    begin: (user, password) => {
      const { userId, passwordHash } = user
      if (running.has(userId) || !credentials.isOutdated(passwordHash)) return
      const writing = write(user, password)
        .catch((error: unknown) => logger.error({ userId, err: error }, NOT_REHASHED))
        .finally(() => running.delete(userId))
      running.set(userId, writing)
    },
    settled: async () => {
      await Promise.all(running.values())
    },
  }
}
