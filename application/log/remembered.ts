import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { TaskEither } from 'fp-ts/lib/TaskEither.js'
import { createRecent } from '../recent.ts'

/** What single streams come to, for who asks again and again. Whoever follows the log says which have changed. */
export interface Remembered<L, State> {
  /** From memory, or loaded now; those who ask at once share one load. */
  readonly of: (stream: string) => TaskEither<L, State>
  /** The stream has changed: what is known of it is forgotten, and what is being loaded now is not kept. */
  readonly forget: (stream: string) => void
}

interface RememberedOptions<L, State> {
  /** Streams that are remembered: those that were asked for last. */
  readonly most: number
  readonly load: (stream: string) => TaskEither<L, State>
  /** Others are loaded each time. */
  readonly isWorthKeeping: (state: State) => boolean
}

export const createRemembered = <L, State>(options: RememberedOptions<L, State>): Remembered<L, State> => {
  const { most, load, isWorthKeeping } = options
  const states = createRecent<string, Either<never, State>>(most)
  const loads = new Map<string, Promise<Either<L, State>>>()

  const loadAndKeep = async (stream: string, isUnchanged: () => boolean): Promise<Either<L, State>> => {
    try {
      const loaded = await load(stream)()
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
    of: (stream) => async () => states.get(stream) ?? (await (loads.get(stream) ?? begin(stream))),
    forget: (stream) => {
      states.delete(stream)
      loads.delete(stream)
    },
  }
}
