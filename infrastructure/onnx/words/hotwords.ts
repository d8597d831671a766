import type { Choice } from '../logits.ts'

/** Bonus on the logit of a token that begins a hotword, and of a token that continues it. */
const BEGIN_BONUS = 3
const CONTINUE_BONUS = 5

/** One spelling of a hotword. */
export interface Spelling {
  readonly tokens: ReadonlyArray<number>
  /** The spelling may begin anywhere; else only after the end of a word. */
  readonly isFree: boolean
}

/** A node of a trie: the tokens that may follow. */
interface Node {
  readonly next: Map<number, Node>
}

/** Words that the decoder prefers to similar-sounding words. */
export interface Hotwords {
  /** Returns the next token after `text`: the likeliest token, or a hotword's token that is almost as likely. */
  readonly prefer: (likeliest: Choice, logits: Float32Array, text: ReadonlyArray<number>) => Choice
}

const leaf = (): Node => ({ next: new Map() })

const insert = (root: Node, tokens: ReadonlyArray<number>): void => {
  let node = root
  for (const token of tokens) {
    const next = node.next.get(token) ?? leaf()
    node.next.set(token, next)
    node = next
  }
}

/** Raises the log odds of a token by a bonus. */
const raised = (logprob: number, bonus: number): number =>
  logprob + bonus - Math.log1p(Math.exp(logprob) * Math.expm1(bonus))

/**
 * Adds a bonus to the tokens of hotwords during decoding (shallow fusion with a trie: Zhao et al., 2019; Jung et al.,
 * 2021). Failure arcs are left out, because greedy decoding does not need them. A hotword can replace a word, but never
 * the end of the text, so silence produces no hotwords. The bonus does not change the score that decides whether
 * somebody spoke.
 *
 * @param endsWord returns whether a word always ends after a token
 */
export const createHotwords = (
  spellings: ReadonlyArray<Spelling>,
  endOfText: number,
  endsWord: (token: number) => boolean,
): Hotwords => {
  const [free, bound] = [leaf(), leaf()]
  for (const { tokens, isFree } of spellings) insert(isFree ? free : bound, tokens)
  const longest = spellings.reduce((most, { tokens }) => Math.max(most, tokens.length), 0)

  /** Returns whether a bound spelling may begin after the first `length` tokens of a text. */
  const isBorder = (text: ReadonlyArray<number>, length: number): boolean => {
    const last = text[length - 1]
    return last === undefined || endsWord(last)
  }

  const continued = (text: ReadonlyArray<number>): ReadonlyArray<Node> => {
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
      for (const root of isBorder(text, text.length) ? [free, bound] : [free]) {
        for (const token of root.next.keys()) bonuses.set(token, BEGIN_BONUS)
      }
      for (const { next } of continued(text)) for (const token of next.keys()) bonuses.set(token, CONTINUE_BONUS)
      const scoreOf = (token: number): number => (logits[token] ?? -Infinity) + (bonuses.get(token) ?? 0)
      const best = [...bonuses.keys()].reduce(
        (first, token) => (scoreOf(token) > scoreOf(first) ? token : first),
        likeliest.token,
      )
      const unaided = (logits[best] ?? -Infinity) - total
      return { token: best, logprob: raised(unaided, bonuses.get(best) ?? 0), withoutBonus: unaided }
    },
  }
}
