import test from 'ava'
import fc from 'fast-check'
import { nameProblem } from '../../../../domain/shared/names.ts'
import { createSchemas } from '../../../../interfaces/description/json-schema.ts'
import { resourceName } from '../../../../interfaces/http/codecs/request-codecs.ts'

const { pattern } = createSchemas().of(resourceName) as { readonly pattern: string }
const described = new RegExp(pattern, 'u')

test('every name that the description allows is accepted', (t) => {
  const shortText = fc.array(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), { maxLength: 3 })
  const spaced = fc.tuple(shortText, fc.constantFrom('', ' ', '\u3000', '  ', '\u00a0'), shortText)
  fc.assert(
    fc.property(spaced.map((parts) => parts.flat().join('')).filter((name) => described.test(name)), (name) => {
      t.is(nameProblem(name), null, JSON.stringify(name))
    }),
    { numRuns: 5000 },
  )
  for (const name of ['\u{18df3}', '\u0301a', `a${'\u0301'.repeat(9)}`, 'a\u00a0b', 'a  b', '\ufffc'])
    t.false(described.test(name), JSON.stringify(name))
  for (const name of ['Ada Lovelace', '山田\u3000太郎', `a${'\u0301'.repeat(8)}`]) t.true(described.test(name), name)
})
