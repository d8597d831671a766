import { ROUTES } from '../http/route-table.ts'
import type { DescriptionCalls } from '../http/routes/description.ts'
import { describeSocket } from './asyncapi.ts'
import { describeInterface } from './openapi.ts'

/** The descriptions of the interface as a client reaches it. */
export const createDescriptions = (): DescriptionCalls => {
  const document = describeInterface(ROUTES)
  return {
    openapi: (servers) => ({ ...document, servers: servers.map((url) => ({ url })) }),
    asyncapi: (servers) => ({ ...describeSocket(servers) }),
  }
}
