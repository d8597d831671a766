import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import type { Bounds } from '../../../domain/shared/codecs.ts'
import { shapeOf, type JsonSchema, type Shape } from '../../../interfaces/http/codecs/shapes.ts'

export type Size = 'smallest' | 'largest'

/** A character with four bytes, and characters that narrower rules allow. */
const CHARACTERS = ['🎙', 'x', '0', 'a']
/** Lengths in characters to try where a rule counts bytes. */
const LENGTHS = [256, 100, 8, 1]

const accepts = (codec: t.Mixed, value: unknown): boolean => E.isRight(codec.decode(value))

const textOf = (codec: t.Mixed, min: number, max: number | undefined, size: Size): string => {
  const longest = [...(max === undefined ? [] : [max]), ...LENGTHS]
  const lengths = size === 'smallest' ? [min, ...LENGTHS.toReversed()] : longest
  const texts = lengths.flatMap((length) => CHARACTERS.map((character) => character.repeat(length)))
  const found = texts.find((text) => accepts(codec, text))
  if (found === undefined) throw new Error(`no text fits ${codec.name}`)
  return found
}

const dateTimeOf = (size: Size): string => `2040-01-01T00:00:00.${'1'.repeat(size === 'smallest' ? 1 : 43)}Z`

const schemaValue = (codec: t.Mixed, schema: JsonSchema, size: Size): string => {
  const { type, format, minimum, maximum, minLength, maxLength } = schema
  if (type === 'integer') {
    const [least, most] = [Number(minimum ?? 1), Number(maximum ?? Number.MAX_SAFE_INTEGER)]
    return String(size === 'smallest' ? least : most)
  }
  if (format === 'date-time') return dateTimeOf(size)
  return textOf(codec, Number(minLength ?? 0), maxLength === undefined ? undefined : Number(maxLength), size)
}

const isOptional = (codec: t.Mixed): boolean => {
  const shape = shapeOf(codec)
  if (shape?.kind === 'like') return isOptional(shape.codec)
  return shape?.kind === 'optional' || shape?.kind === 'list'
}

const shapedValue = (codec: t.Mixed, shape: Shape, size: Size): unknown => {
  switch (shape.kind) {
    case 'object': {
      const sent = Object.entries(shape.members).filter(([, member]) => size === 'largest' || !isOptional(member))
      return Object.fromEntries(sent.map(([name, member]) => [name, valueOf(member, size)]))
    }
    case 'list':
      return Array.from({ length: size === 'largest' ? shape.maxItems : 0 }, () => valueOf(shape.codec, size))
    case 'schema':
      return schemaValue(codec, shape.schema, size)
    case 'like':
    case 'optional':
      return valueOf(shape.codec, size)
  }
}

/** Returns the smallest or the largest value that a codec of requests admits. Throws for a value without a bound. */
export const valueOf = (codec: t.Mixed & { readonly bounds?: Bounds }, size: Size): unknown => {
  const shape = shapeOf(codec)
  if (shape !== undefined) return shapedValue(codec, shape, size)
  const { bounds } = codec
  if (bounds?.kind === 'string') return textOf(codec, bounds.min, bounds.max, size)
  if (bounds !== undefined) return size === 'smallest' ? bounds.min : bounds.max
  if (codec instanceof t.BooleanType) return true
  if (codec instanceof t.KeyofType) return Object.keys(codec.keys as object)[0]
  throw new Error(`${codec.name} has no largest value`)
}
