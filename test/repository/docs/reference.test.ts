import { readdirSync, readFileSync } from 'node:fs'
import test from 'ava'
import { describeInterface } from '../../../interfaces/description/openapi.ts'
import { PROPERTIES } from '../../../interfaces/description/texts.ts'
import { ROUTES } from '../../../interfaces/http/route-table.ts'
import { referencePages } from '../../../tools/reference/pages.ts'

test('docs/reference equals the output of its generator', async (t) => {
  const pages = await referencePages()
  t.deepEqual(readdirSync('docs/reference').toSorted(), Object.keys(pages).toSorted())
  for (const [name, text] of Object.entries(pages))
    t.is(
      readFileSync(`docs/reference/${name}`, 'utf8'),
      text,
      `docs/reference/${name} is out of date: run \`node tools/reference/make.ts\``,
    )
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}

const memberNames = ({ properties = {} }: Schema): ReadonlyArray<string> =>
  Object.entries(properties).flatMap(([name, member]) => [name, ...memberNames(member)])

test('every member of a request has a description, and every description has a member', (t) => {
  const { schemas } = describeInterface(ROUTES)['components'] as { readonly schemas: Readonly<Record<string, Schema>> }
  const names = Object.entries(schemas).flatMap(([name, schema]) =>
    name.endsWith('Request') ? memberNames(schema) : [],
  )
  t.deepEqual(Object.keys(PROPERTIES).toSorted(), [...new Set(names)].toSorted())
})
