import fc from 'fast-check'

export type Schema = Readonly<Record<string, unknown>>

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const schemaIn = (value: unknown): Schema => (value ?? {}) as Schema

interface StringSchema {
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
}

/** Text of any characters, and the longest text of characters that UTF-16 stores in two units. */
const texts = (schema: Schema): fc.Arbitrary<string> => {
  const { minLength = 0, maxLength = 256, pattern } = schema as StringSchema
  if (schema['format'] === 'date-time')
    return fc.date({ min: new Date('2030-01-01'), max: new Date('9000-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString())
  const matcher = new RegExp(pattern ?? '', 'u')
  const isValid = (text: string): boolean => {
    const length = Array.from(text).length
    return length >= minLength && length <= maxLength && matcher.test(text)
  }
  // fast-check does not know the classes \p{…}. Only letters and digits fit the other patterns.
  const isAnyText = pattern === undefined || pattern.includes('\\p{') || pattern.includes('\\P{')
  if (!isAnyText) return fc.stringMatching(new RegExp(pattern)).filter(isValid)
  const lengths = { minLength, maxLength: Math.min(maxLength, minLength + 20) }
  return fc.oneof(
    fc.string({ ...lengths, unit: 'grapheme' }).filter(isValid),
    fc.string({ ...lengths, unit: 'binary' }).filter(isValid),
    fc.constant('😀'.repeat(maxLength)).filter(isValid),
  )
}

const numbers = ({ type, minimum = -1e9, maximum = 1e9 }: { type?: unknown; minimum?: number; maximum?: number }) =>
  type === 'integer'
    ? fc.integer({ min: Math.max(minimum, Number.MIN_SAFE_INTEGER), max: Math.min(maximum, Number.MAX_SAFE_INTEGER) })
    : fc.double({ min: minimum, max: maximum, noNaN: true })

const objects = (schema: Schema): fc.Arbitrary<unknown> => {
  const required = listOf(schema['required'])
  const members = Object.entries(schemaIn(schema['properties']))
  const arbitraries = members.map(([name, member]) => [name, valuesOf(schemaIn(member))] as const)
  return fc.record(Object.fromEntries(arbitraries), {
    requiredKeys: members.map(([name]) => name).filter((name) => required.includes(name)),
  })
}

/** Generates valid values of a JSON Schema without `$ref`. */
export const valuesOf = (schema: Schema): fc.Arbitrary<unknown> => {
  const { type, anyOf, enum: values } = schema
  if (Array.isArray(values)) return fc.constantFrom(...(values as ReadonlyArray<unknown>))
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one) => valuesOf(schemaIn(one))))
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one as unknown })))
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'string':
      return texts(schema)
    case 'integer':
    case 'number':
      return numbers(schema)
    case 'array':
      return fc.array(valuesOf(schemaIn(schema['items'])), { maxLength: Math.min(Number(schema['maxItems'] ?? 5), 5) })
    case 'object':
      return objects(schema)
    default:
      throw new Error(`no values for the schema ${JSON.stringify(schema)}`)
  }
}
