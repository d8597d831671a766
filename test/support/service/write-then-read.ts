import type { Client, Listing, LiveJson, Single } from './client.ts'

/**
 * Creates and ends a session `rounds` times and reads after each write. Returns the number of rounds in which each read
 * showed the write.
 */
export const countConsistentRounds = async (client: Client, rounds: number): Promise<number> => {
  const listed = async (query: string): Promise<Listing<LiveJson>> =>
    (await client.get<Listing<LiveJson>>(`/lives/${query}`)).body
  const first = async (query: string): Promise<number | undefined> => (await listed(query)).data[0]?.id
  let seen = 0
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await client.createLive()
    const created = [await first('?limit=1'), await first('?status=pending')]
    await client.put(`/lives/${id}/finish`)
    const { status } = (await client.get<Single<LiveJson>>(`/lives/${id}`)).body.data
    const ended = await first('?status=finished&limit=1')
    const { pagination } = await listed('?status=pending')
    const areListed = [...created, ended].every((shown) => shown === id)
    if (areListed && status === 'finished' && pagination.total_items === 0) seen += 1
  }
  return seen
}
