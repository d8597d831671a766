import test from 'ava'
import fc from 'fast-check'
import { valuesIn } from '../../../../interfaces/http/query.ts'

const NAMES = ['skip', 'limit', 'iso_639_1']

const part = fc.oneof(
  fc.constantFrom(...NAMES, 'sk%69p', '%6Cimit', 'other', '', '%', '%zz', '%C3%A9', 'a+b', '=', '&', '__proto__'),
  fc.string({ maxLength: 4 }),
)
const query = fc.array(fc.tuple(part, part), { maxLength: 12 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`).join('&'))

test('a query has the values that the standard parser finds, in their order', (t) => {
  fc.assert(
    fc.property(query, (text) => {
      const standard = new URLSearchParams(text)
      t.deepEqual(valuesIn(text, NAMES), Object.fromEntries(NAMES.map((name) => [name, standard.getAll(name)])))
    }),
  )
})

test('unknown parameters of a query are skipped, even if they cannot be decoded', (t) => {
  t.deepEqual(valuesIn('unknown=%zz&skip=%31&__proto__=1&skip=2', ['skip']), { skip: ['1', '2'] })
  t.deepEqual(valuesIn('', ['skip']), { skip: [] })
})

test('of a parameter that is repeated very often, the first twenty values and the last one count', (t) => {
  const sent = Array.from({ length: 100 }, (_, n) => n)
  const kept = [...sent.slice(0, 20), 99].map(String)
  t.deepEqual(valuesIn(sent.map((n) => `sk%69p=${n}`).join('&'), NAMES), { skip: kept, limit: [], iso_639_1: [] })
})
