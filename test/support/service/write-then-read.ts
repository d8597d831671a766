import type { Client, Listing, LiveJson, Single } from './client.ts'

/** Creates a live and ends it, `rounds` times, and reads after each write; in how many rounds every read showed the write (R15). */
export const roundsThatRead = async (client: Client, rounds: number): Promise<number> => {
  const listed = async (query: string): Promise<Listing<LiveJson>> => (await client.get<Listing<LiveJson>>(`/lives/${query}`)).body
  const first = async (query: string): Promise<number | undefined> => (await listed(query)).data[0]?.id
  let seen = 0
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await client.createLive()
    const created = [await first('?limit=1'), await first('?status=pending')]
    await client.put(`/lives/${id}/finish`)
    const { status } = (await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data
    const ended = await first('?status=finished&limit=1')
    const { pagination } = await listed('?status=pending')
    if ([...created, ended].every((shown) => shown === id) && status === 'finished' && pagination.total_items === 0) seen += 1
  }
  return seen
}
