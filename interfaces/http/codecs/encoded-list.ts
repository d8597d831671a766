import * as t from 'io-ts'
import { mapInSlices, ROWS_AT_ONCE } from '../../../application/concurrency.ts'

const listBody = t.type({ data: t.UnknownArray, pagination: t.UnknownRecord })

/** Returns the number of rows of a list. Other bodies have none. */
export const rowsIn = (body: unknown): number => (listBody.is(body) ? body.data.length : 0)

/** Returns the JSON of a long list, encoded in slices. Null for other bodies, which Koa encodes. */
export const encodedList = async (body: unknown): Promise<string | null> => {
  if (!listBody.is(body) || body.data.length <= ROWS_AT_ONCE) return null
  const rows = await mapInSlices(body.data, (row) => JSON.stringify(row))
  return `{"data":[${rows.join(',')}],"pagination":${JSON.stringify(body.pagination)}}`
}
