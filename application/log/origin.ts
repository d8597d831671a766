import type { Either } from 'fp-ts/lib/Either.js'
import type { Environment } from '../ports/environment.ts'

/** The actor and the ids of a command, for the metadata of its events. */
export interface Origin {
  readonly commandId: string
  readonly actor: string
  readonly correlationId: string
}

/** A command whose time and id are fixed, so it takes effect once even if it runs again after an unknown outcome. */
export type Repeatable<L, A> = () => Promise<Either<L, A>>

export const originOf = (
  { environment }: { readonly environment: Pick<Environment, 'newId'> },
  actor: string,
): Origin => {
  const commandId = environment.newId()
  return { commandId, correlationId: commandId, actor }
}

/** Returns the origin of a new command by this process itself. */
export const ownOrigin = (deps: { readonly environment: Pick<Environment, 'newId' | 'instance'> }): Origin =>
  originOf(deps, `instance:${deps.environment.instance}`)
