import * as t from 'io-ts'
import { object } from '../../../domain/shared/codecs.ts'
import { ApiError, createApiClient } from '../../client/client.ts'
import type { CreateLiveRequest, LiveSession } from '../../client/operations.ts'

/** The members of a session that a command uses. */
export type CreatedLive = Pick<LiveSession, 'id' | 'sender_token' | 'listener_token' | 'relative_path'>

export interface ApiClient {
  readonly createLive: (request: CreateLiveRequest) => Promise<CreatedLive>
  /** Resolves to the names of the active models. */
  readonly activeModels: () => Promise<ReadonlyArray<string>>
  /** Resolves to the codes of the languages that `language` can be translated into. */
  readonly targetsOf: (language: string) => Promise<ReadonlyArray<string>>
  /** Returns the WebSocket URL of a session for its sender token or listener token. */
  readonly socketUrl: (live: CreatedLive, token: string) => string
}

const refusalBody = object({ detail: t.string })

const refusalOf = ({ status, body }: ApiError): Error =>
  new Error(`The service refused the session (${status}): ${refusalBody.is(body) ? body.detail : JSON.stringify(body)}`)

/** Logs in. Throws an ApiError with status and body when the service refuses. */
export const logIn = async (url: string, username: string, password: string): Promise<ApiClient> => {
  const { access_token: token } = await createApiClient({ url }).call('login', { body: { username, password } })
  const client = createApiClient({ url, token })
  return {
    createLive: async (request) => {
      try {
        return (await client.call('createLive', { body: request })).data
      } catch (error) {
        throw error instanceof ApiError ? refusalOf(error) : error
      }
    },
    activeModels: async () => {
      const { data } = await client.call('listModels', { query: { limit: 1000 } })
      return data.flatMap(({ name, active }) => (active ? [name] : []))
    },
    targetsOf: async (language) => {
      const { data } = await client.call('listTranslations', { query: { lang_from: language } })
      return data.flatMap(({ active, lang_to: { iso_639_1: code } }) => (active ? [code] : []))
    },
    socketUrl: (live, socketToken) =>
      `${url.replace(/^http/, 'ws')}${live.relative_path}?token=${encodeURIComponent(socketToken)}`,
  }
}
