/** `node tools/client/make.ts`: writes the types of the TypeScript client from the table of routes. */
import { writeFileSync } from 'node:fs'
import { describeInterface } from '../../interfaces/description/openapi.ts'
import { ROUTES } from '../../interfaces/http/route-table.ts'
import { generateClient } from './generate.ts'

writeFileSync(
  new URL('../../interfaces/client/operations.ts', import.meta.url),
  generateClient(describeInterface(ROUTES)),
)
