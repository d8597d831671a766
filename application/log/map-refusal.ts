import type { Unavailable } from '../errors.ts'
import { unexpected } from './unexpected.ts'

interface Tagged {
  readonly _tag: string
}

/** The error for each refusal of a decider. Null: the command cannot cause this refusal. */
type Meanings<Refusal extends Tagged> = { readonly [Tag in Refusal['_tag']]: Tagged | null }

const isRefusal = <Refusal extends Tagged>(
  left: Refusal | Unavailable,
  meanings: Meanings<Refusal>,
): left is Refusal => Object.hasOwn(meanings, left._tag)

/**
 * Returns the use case's error for a decider's refusal. Returns `Unavailable` unchanged. Throws for an impossible
 * refusal. `who` names the decider in the message.
 */
export const mapRefusal = <Refusal extends Tagged, const M extends Meanings<Refusal>>(
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
