import type { Client, Json, Listing, Single } from './client.ts'

/** The path of the profiles of session settings. */
export const PATH = '/user-live-configs/'

export interface ProfileJson extends Json {
  readonly id: number
  readonly name: string
  readonly created_at: string
  readonly updated_at: string | null
}

export type Profile = Single<ProfileJson>
export type Profiles = Listing<ProfileJson>

export const removeProfile = (client: Client, id: number | string) =>
  client.request('DELETE', `${PATH}${id}`, { headers: { authorization: `Bearer ${client.token}` } })
