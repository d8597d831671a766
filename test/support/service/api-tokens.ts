import assert from 'node:assert/strict'
import { createClient } from './client.ts'
import type { Answer, Client, Json, Listing, Single } from './client.ts'

/** A record of an API token: the members that tests use by name. */
export interface TokenJson extends Json {
  readonly id: number
  readonly name: string
  readonly token_prefix: string
  readonly is_active: boolean
  readonly last_used_at: string | null
}

interface Issued extends TokenJson {
  readonly token: string
}

export const TOKENS = '/tokens/'

/** Makes an API token of the client's user. */
export const issueToken = async (client: Client, members: Json = { name: 'ci' }): Promise<Issued> => {
  const { status, body } = await client.post<Single<Issued>>(TOKENS, members)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

/** A request with an API key and nothing else. */
export const withKey = <Body = Json>(url: string, key: string, path: string, method = 'GET', body?: Json): Promise<Answer<Body>> =>
  createClient(url).request<Body>(method, path, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

export const revokeToken = (client: Client, id: number | string): Promise<Answer> =>
  client.request('DELETE', `${TOKENS}${id}`, { headers: { authorization: `Bearer ${client.token}` } })

export const listTokens = async (client: Client): Promise<Listing<TokenJson>> => (await client.get<Listing<TokenJson>>(TOKENS)).body
