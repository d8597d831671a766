/** What an independent loop over the same files answered. */
export interface ReferenceTokens {
  readonly tokens: ReadonlyArray<number>
  /** The best log probability above the second at each step, the end included; null where only one token was allowed. */
  readonly gaps: ReadonlyArray<number | null>
}

/** `close`: the first difference stands where the reference hardly preferred its token. */
export type Comparison = { readonly kind: 'equal' } | Difference

interface Difference {
  readonly kind: 'close' | 'different'
  /** The first step that differs, and the tokens there; null after the end. */
  readonly at: number
  readonly gap: number
  readonly ours: number | null
  readonly theirs: number | null
}

/** Natural logarithm of how much likelier the reference's token may be where another one still counts as equal. */
const CLOSE = 0.01
/** Of 200: quantised activations turn tiny differences of the features into such ones now and then. */
const MOST_CLOSE = 0.01

export const compareTokens = (ours: ReadonlyArray<number>, { tokens, gaps }: ReferenceTokens): Comparison => {
  const length = Math.max(ours.length, tokens.length)
  const at = Array.from({ length }, (_, step) => step).find((step) => ours[step] !== tokens[step])
  if (at === undefined) return { kind: 'equal' }
  const gap = gaps[at] ?? Infinity
  return { kind: gap < CLOSE ? 'close' : 'different', at, gap, ours: ours[at] ?? null, theirs: tokens[at] ?? null }
}

/** Prints every difference and the count; whether the two agree well enough. */
export const report = (what: string, compared: ReadonlyArray<readonly [id: string, comparison: Comparison]>): boolean => {
  const name = (token: number | null): string => (token === null ? 'the end' : `token ${token}`)
  const count = (kind: Comparison['kind']): number => compared.filter(([, comparison]) => comparison.kind === kind).length
  for (const [id, comparison] of compared) {
    if (comparison.kind === 'equal') continue
    const { at, gap, ours, theirs, kind } = comparison
    console.log(`${kind}: ${id}, step ${at}: ours ${name(ours)}, theirs ${name(theirs)}, which is ahead by ${gap.toFixed(4)}`)
  }
  const [equal, close, different] = [count('equal'), count('close'), count('different')]
  console.log(`${what}: ${compared.length} compared, ${equal} equal, ${close} closer than ${CLOSE}, ${different} different`)
  return compared.length > 0 && different === 0 && close <= Math.floor(compared.length * MOST_CLOSE)
}
