import type * as t from 'io-ts'

/** A JSON Schema (2020-12, as OpenAPI 3.1 has it), or a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What a codec of our own reads, which io-ts itself cannot tell: from it the codec is described. */
export type Shape =
  | { readonly kind: 'object'; readonly members: t.Props }
  /** May be left out, then `fallback` counts; where `null` counts as left out too it is `nullable`. */
  | { readonly kind: 'optional'; readonly codec: t.Mixed; readonly fallback: unknown; readonly nullable: boolean }
  | { readonly kind: 'list'; readonly codec: t.Mixed; readonly most?: number }
  /** Reads what another codec reads; its further rules are not told. */
  | { readonly kind: 'like'; readonly codec: t.Mixed }
  | { readonly kind: 'schema'; readonly schema: JsonSchema }

/** Puts beside a new codec what it reads. */
export const shaped = <C extends t.Mixed>(codec: C, shape: Shape): C => Object.assign(codec, { shape })

export const shapeOf = (codec: t.Mixed & { readonly shape?: Shape }): Shape | undefined => codec.shape
