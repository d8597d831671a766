import type { Environment } from '../ports/environment.ts'

/** Who acts and why, for the metadata of the events of a command. */
export interface Origin {
  readonly commandId: string
  readonly actor: string
  readonly correlationId: string
}

/** Of a new command of this actor's. */
export const originOf = ({ environment }: { readonly environment: Pick<Environment, 'newId'> }, actor: string): Origin => {
  const commandId = environment.newId()
  return { commandId, correlationId: commandId, actor }
}

/** Of a new command that this process gives itself. */
export const ownOrigin = (deps: { readonly environment: Pick<Environment, 'newId' | 'instance'> }): Origin =>
  originOf(deps, `instance:${deps.environment.instance}`)
