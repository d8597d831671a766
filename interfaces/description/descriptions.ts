import { ROUTES } from '../http/route-table.ts'
import type { DescriptionCalls } from '../http/routes/description.ts'
import { describeSocket } from './asyncapi.ts'
import { describeInterface } from './openapi.ts'

/** Returns the use cases that produce the OpenAPI and AsyncAPI documents for the addresses of a client. */
export const createDescriptions = (): DescriptionCalls => {
  const document = describeInterface(ROUTES)
  return {
    openapi: (servers) => ({ ...document, servers: servers.map((url) => ({ url })) }),
    asyncapi: (servers) => ({ ...describeSocket(servers) }),
  }
}
