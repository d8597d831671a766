import * as t from 'io-ts'
import { decodeOrThrow, id, object } from '../../domain/shared/codecs.ts'

const loginAnswer = object({ access_token: t.string })
const liveAnswer = object({
  data: object({ id, sender_token: t.string, listener_token: t.string, relative_path: t.string }),
})

const pairsAnswer = object({ data: t.readonlyArray(object({ active: t.boolean, lang_to: object({ iso_639_1: t.string }) })) })

/** The members of a live that a command uses. */
export type CreatedLive = t.TypeOf<typeof liveAnswer>['data']

const answerOf = async (response: Response): Promise<unknown> => {
  const body: unknown = await response.json()
  if (!response.ok) throw new Error(`${response.status} ${new URL(response.url).pathname}: ${JSON.stringify(body)}`)
  return body
}

export interface ApiClient {
  readonly createLive: (request: Readonly<Record<string, unknown>>) => Promise<CreatedLive>
  /** Codes of the languages that `language` can be translated into. */
  readonly targetsOf: (language: string) => Promise<ReadonlyArray<string>>
  /** WebSocket address of a live for one of its tokens. */
  readonly socketUrl: (live: CreatedLive, token: string) => string
}

/** Logs in; throws an Error with status and detail on any refusal. */
export const logIn = async (url: string, username: string, password: string): Promise<ApiClient> => {
  const login = await fetch(`${url}/login`, { method: 'POST', body: new URLSearchParams({ username, password }) })
  const { access_token: token } = decodeOrThrow(loginAnswer, await answerOf(login))
  return {
    createLive: async (request) => {
      const response = await fetch(`${url}/lives`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(request),
      })
      return decodeOrThrow(liveAnswer, await answerOf(response)).data
    },
    targetsOf: async (language) => {
      const answer = await answerOf(await fetch(`${url}/translations/?lang_from=${encodeURIComponent(language)}`))
      return decodeOrThrow(pairsAnswer, answer).data.flatMap(({ active, lang_to: { iso_639_1: code } }) => (active ? [code] : []))
    },
    socketUrl: (live, socketToken) => `${url.replace(/^http/, 'ws')}${live.relative_path}?token=${encodeURIComponent(socketToken)}`,
  }
}
