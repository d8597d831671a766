import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { createLruCache } from '../lru-cache.ts'

/** Caches the states of streams. A follower of the log must call `forget` for each changed stream. */
export interface StreamCache<L, State> {
  /** Returns the cached state, or loads it. Concurrent calls share one load. */
  readonly get: (stream: string) => Promise<Either<L, State>>
  /** Drops the state of a stream that has changed. The result of a running load is not kept either. */
  readonly forget: (stream: string) => void
}

interface StreamCacheOptions<L, State> {
  /** The cache keeps the most recently used streams. */
  readonly maxStreams: number
  readonly load: (stream: string) => Promise<Either<L, State>>
  /** Returns whether the state is cached. */
  readonly isWorthKeeping: (state: State) => boolean
}

export const createStreamCache = <L, State>(options: StreamCacheOptions<L, State>): StreamCache<L, State> => {
  const { maxStreams, load, isWorthKeeping } = options
  const states = createLruCache<string, Either<never, State>>(maxStreams)
  const loads = new Map<string, Promise<Either<L, State>>>()

  const loadAndKeep = async (stream: string, isUnchanged: () => boolean): Promise<Either<L, State>> => {
    try {
      const loaded = await load(stream)
      if (E.isRight(loaded) && isWorthKeeping(loaded.right) && isUnchanged()) states.set(stream, loaded)
      return loaded
    } finally {
      if (isUnchanged()) loads.delete(stream)
    }
  }
  const begin = (stream: string): Promise<Either<L, State>> => {
    const running = loadAndKeep(stream, () => loads.get(stream) === running)
    loads.set(stream, running)
    return running
  }

  return {
    get: async (stream) => states.get(stream) ?? (await (loads.get(stream) ?? begin(stream))),
    forget: (stream) => {
      states.delete(stream)
      loads.delete(stream)
    },
  }
}
