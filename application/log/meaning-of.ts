import type { Unavailable } from '../errors.ts'
import { unexpected } from './unexpected.ts'

interface Tagged {
  readonly _tag: string
}

/** By refusal of the rules; null stands at those that they do not give to the command that was sent. */
type Meanings<Refusal extends Tagged> = { readonly [Tag in Refusal['_tag']]: Tagged | null }

const isRefusal = <Refusal extends Tagged>(
  left: Refusal | Unavailable,
  meanings: Meanings<Refusal>,
): left is Refusal => Object.hasOwn(meanings, left._tag)

/** What a refusal of `who` means to whoever asked. That something is away means what it says. */
export const meaningOf = <Refusal extends Tagged, const M extends Meanings<Refusal>>(
  who: string,
  left: Refusal | Unavailable,
  meanings: M & Meanings<Refusal>,
): NonNullable<M[Refusal['_tag']]> | Unavailable => {
  if (!isRefusal(left, meanings)) return left
  const tag: Refusal['_tag'] = left._tag
  const meaning: M[Refusal['_tag']] = meanings[tag]
  if (meaning === null || meaning === undefined) throw unexpected(who, left)
  return meaning
}
