interface Tagged {
  readonly _tag: string
}

const isOther = <Left extends Tagged, Tag extends Left['_tag']>(
  left: Left,
  meanings: Readonly<Record<Tag, unknown>>,
): left is Exclude<Left, { readonly _tag: Tag }> => !Object.hasOwn(meanings, left._tag)

/** Returns the use case's error for each refusal that `meanings` names. Returns every other refusal unchanged. */
export const mapRefusal = <Left extends Tagged, Tag extends Left['_tag'], Meaning extends Tagged>(
  left: Left,
  meanings: Readonly<Record<Tag, Meaning>>,
): Meaning | Exclude<Left, { readonly _tag: Tag }> =>
  isOther(left, meanings) ? left : meanings[left._tag as Tag]
