import assert from 'node:assert/strict'
import { createClient, type Answer, type Client, type Json, type Listing, type Single } from './client.ts'

/** An API token in a list: the members that tests use by name. */
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

/** Creates an API token of the client's user. */
export const issueToken = async (client: Client, members: Json = { name: 'ci' }): Promise<Issued> => {
  const { status, body } = await client.post<Single<Issued>>(TOKENS, members)
  assert.equal(status, 200, JSON.stringify(body))
  return body.data
}

/** Sends a request with an API token (`x-api-key`) as its only credential. */
export const withKey = <Body = Json>(
  url: string,
  key: string,
  path: string,
  method = 'GET',
  body?: Json,
): Promise<Answer<Body>> =>
  createClient(url).request<Body>(method, path, {
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

export const revokeToken = (client: Client, id: number | string): Promise<Answer> =>
  client.request('DELETE', `${TOKENS}${id}`, { headers: { authorization: `Bearer ${client.token}` } })

export const listTokens = async (client: Client): Promise<Listing<TokenJson>> =>
  (await client.get<Listing<TokenJson>>(TOKENS)).body
