import * as E from 'fp-ts/lib/Either.js'
import type { Documents } from '../application/ports/documents.ts'
import type { IdsOfUser } from '../application/ports/read-models.ts'

const PAGE_SIZE = 500

export const idsOfUser =
  (documents: Pick<Documents, 'page'>, collection: string): IdsOfUser =>
  async (userId) => {
    const ids: Array<number> = []
    for (;;) {
      const sort = { by: 'id', direction: 'ascending' } as const
      const page = await documents.page(collection, { filter: { userId }, sort, skip: ids.length, limit: PAGE_SIZE })
      if (E.isLeft(page)) return page
      ids.push(...page.right.map((document) => Number(document['id'])))
      if (page.right.length < PAGE_SIZE) return E.right(ids)
    }
  }
