import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import { modelNameOf, PULLED_BY_NAME, repositoriesOf } from '../catalogue/models.ts'
import { createHubHttp } from './hub-http.ts'
import type { Source } from './pull.ts'
import { isRepositoryId } from './repository.ts'

/** The source of a model and its default name. */
export interface NamedSource {
  readonly source: Source
  readonly name: string
}

interface HubSourceOptions {
  readonly revision?: string | undefined
  /** Cancels the download. */
  readonly signal?: AbortSignal | null
}

/**
 * Finds the repositories of a model, given as a known name or as `owner/name`. Left: the expected form, to follow the
 * name of the wrong value.
 */
export const hubSource = (
  model: string,
  hub: URL | null,
  { revision = 'main', signal = null }: HubSourceOptions = {},
): Either<string, NamedSource> => {
  const known = repositoriesOf(model)
  if (known.length === 0 && !isRepositoryId(model))
    return E.left(`should be a model name (${PULLED_BY_NAME.join(', ')}) or a repository (owner/name)`)
  const ids = known.length === 0 ? [model] : known
  const name = known.length === 0 ? modelNameOf(model.slice(model.indexOf('/') + 1)) : model
  return E.right({ source: { kind: 'hub', http: createHubHttp(hub, signal), ids, revision }, name })
}
