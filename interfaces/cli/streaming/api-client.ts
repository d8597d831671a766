import { createApiClient } from '../../client/client.ts'
import type { CreateLiveRequest, LiveSession } from '../../client/operations.ts'

/** The members of a live that a command uses. */
export type CreatedLive = Pick<LiveSession, 'id' | 'sender_token' | 'listener_token' | 'relative_path'>

export interface ApiClient {
  readonly createLive: (request: CreateLiveRequest) => Promise<CreatedLive>
  /** Codes of the languages that `language` can be translated into. */
  readonly targetsOf: (language: string) => Promise<ReadonlyArray<string>>
  /** WebSocket address of a live for one of its tokens. */
  readonly socketUrl: (live: CreatedLive, token: string) => string
}

/** Logs in; throws an ApiError with status and detail on any refusal. */
export const logIn = async (url: string, username: string, password: string): Promise<ApiClient> => {
  const { access_token: token } = await createApiClient({ url }).call('login', { body: { username, password } })
  const client = createApiClient({ url, token })
  return {
    createLive: async (request) => (await client.call('createLive', { body: request })).data,
    targetsOf: async (language) => {
      const { data } = await client.call('listTranslations', { query: { lang_from: language } })
      return data.flatMap(({ active, lang_to: { iso_639_1: code } }) => (active ? [code] : []))
    },
    socketUrl: (live, socketToken) => `${url.replace(/^http/, 'ws')}${live.relative_path}?token=${encodeURIComponent(socketToken)}`,
  }
}
