import type { Choice } from '../logits.ts'

/** Added to the logit of a token that begins a hotword, and of one that goes on with it: odds of e to one. */
const BEGIN = 3
const GO_ON = 5

/** A way to write a hotword. */
export interface Spelling {
  readonly tokens: ReadonlyArray<number>
  /** It begins anywhere; else only where no word goes on. */
  readonly isFree: boolean
}

/** What may follow, token by token. */
interface Node {
  readonly next: Map<number, Node>
}

/** Words that are heard rather than what sounds alike. */
export interface Hotwords {
  /** The token to take behind `text`: the likeliest, or one of a hotword that comes near to it. */
  readonly prefer: (likeliest: Choice, logits: Float32Array, text: ReadonlyArray<number>) => Choice
}

const leafOf = (): Node => ({ next: new Map() })

const insert = (root: Node, tokens: ReadonlyArray<number>): void => {
  let node = root
  for (const token of tokens) {
    const next = node.next.get(token) ?? leafOf()
    node.next.set(token, next)
    node = next
  }
}

/** A log probability when the odds are better by a bonus. */
const raised = (logprob: number, bonus: number): number => logprob + bonus - Math.log1p(Math.exp(logprob) * Math.expm1(bonus))

/**
 * Shallow fusion of a decoder with a list of words, as a trie of their tokens (Zhao et al., 2019; Jung et al., 2021, without the
 * failure arcs that greedy decoding has no use for). A hotword takes the place of another word and never of the end of the text,
 * so that silence stays silent. It is as likely as the bonus makes it; what says whether anybody spoke stays the model's alone.
 *
 * @param endsWord whether no word goes on behind a token
 */
export const createHotwords = (
  spellings: ReadonlyArray<Spelling>,
  endOfText: number,
  endsWord: (token: number) => boolean,
): Hotwords => {
  const [free, bound] = [leafOf(), leafOf()]
  for (const { tokens, isFree } of spellings) insert(isFree ? free : bound, tokens)
  const longest = spellings.reduce((most, { tokens }) => Math.max(most, tokens.length), 0)

  /** Whether the bound trie is open behind the first `length` tokens of a text. */
  const isBorder = (text: ReadonlyArray<number>, length: number): boolean => {
    const last = text[length - 1]
    return last === undefined || endsWord(last)
  }

  const goingOn = (text: ReadonlyArray<number>): ReadonlyArray<Node> => {
    const found: Array<Node> = []
    for (let length = 1; length < longest && length <= text.length; length += 1) {
      const from = text.length - length
      for (const root of isBorder(text, from) ? [free, bound] : [free]) {
        const node = text.slice(from).reduce<Node | undefined>((at, token) => at?.next.get(token), root)
        if (node !== undefined) found.push(node)
      }
    }
    return found
  }

  return {
    prefer: (likeliest, logits, text) => {
      if (likeliest.token >= endOfText) return likeliest
      const total = (logits[likeliest.token] ?? 0) - likeliest.logprob
      const bonuses = new Map<number, number>()
      for (const root of isBorder(text, text.length) ? [free, bound] : [free]) for (const token of root.next.keys()) bonuses.set(token, BEGIN)
      for (const { next } of goingOn(text)) for (const token of next.keys()) bonuses.set(token, GO_ON)
      const scoreOf = (token: number): number => (logits[token] ?? -Infinity) + (bonuses.get(token) ?? 0)
      const best = [...bonuses.keys()].reduce((first, token) => (scoreOf(token) > scoreOf(first) ? token : first), likeliest.token)
      const alone = (logits[best] ?? -Infinity) - total
      return { token: best, logprob: raised(alone, bonuses.get(best) ?? 0), alone }
    },
  }
}
