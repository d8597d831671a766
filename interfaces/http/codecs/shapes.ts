import type * as t from 'io-ts'

/** A JSON Schema (2020-12, as in OpenAPI 3.1), or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** Describes the input of our own codecs, so a JSON Schema can be generated. io-ts cannot describe them itself. */
export type Shape =
  | { readonly kind: 'object'; readonly members: t.Props }
  /** A member that may be left out. `fallback` then replaces it. `nullable`: null also counts as left out. */
  | { readonly kind: 'optional'; readonly codec: t.Mixed; readonly fallback: unknown; readonly nullable: boolean }
  | { readonly kind: 'list'; readonly codec: t.Mixed; readonly maxItems: number }
  /** A codec with the schema of another codec, and with further rules that a schema cannot express. */
  | { readonly kind: 'like'; readonly codec: t.Mixed }
  | { readonly kind: 'schema'; readonly schema: JsonSchema }

/** Attaches the shape of its input to a codec. */
export const shaped = <C extends t.Mixed>(codec: C, shape: Shape): C => Object.assign(codec, { shape })

export const shapeOf = (codec: t.Mixed & { readonly shape?: Shape }): Shape | undefined => codec.shape

/** Returns the names of the members of a codec for objects. */
export const memberNames = (codec: t.Mixed): ReadonlyArray<string> => {
  const shape = shapeOf(codec)
  if (shape?.kind === 'like') return memberNames(shape.codec)
  return shape?.kind === 'object' ? Object.keys(shape.members) : []
}
