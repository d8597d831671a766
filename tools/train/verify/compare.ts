/** The result of an independent loop over the same model files. */
export interface ReferenceTokens {
  readonly tokens: ReadonlyArray<number>
  /**
   * Difference of the best two log probabilities at each step, including the end. Null when only one token was allowed.
   */
  readonly gaps: ReadonlyArray<number | null>
}

/** `close`: at the first difference the reference preferred its token only slightly. */
export type Comparison = { readonly kind: 'equal' } | Difference

interface Difference {
  readonly kind: 'close' | 'different'
  /** The first different step with its tokens. A token is null after the end of a text. */
  readonly at: number
  readonly gap: number
  readonly ours: number | null
  readonly theirs: number | null
}

/** A difference counts as close when the log probabilities of the two tokens differ by less than this. */
const CLOSE_GAP = 0.01
/** Allowed share of close differences, because quantised activations can enlarge tiny differences of the features. */
const MAX_CLOSE_SHARE = 0.01

export const compareTokens = (ours: ReadonlyArray<number>, { tokens, gaps }: ReferenceTokens): Comparison => {
  const length = Math.max(ours.length, tokens.length)
  const at = Array.from({ length }, (_, step) => step).find((step) => ours[step] !== tokens[step])
  if (at === undefined) return { kind: 'equal' }
  const gap = gaps[at] ?? Infinity
  return { kind: gap < CLOSE_GAP ? 'close' : 'different', at, gap, ours: ours[at] ?? null, theirs: tokens[at] ?? null }
}

/** Prints every difference and the counts. Returns whether both loops agree well enough. */
export const report = (
  title: string,
  compared: ReadonlyArray<readonly [id: string, comparison: Comparison]>,
): boolean => {
  const name = (token: number | null): string => (token === null ? 'the end' : `token ${token}`)
  const count = (kind: Comparison['kind']): number =>
    compared.filter(([, comparison]) => comparison.kind === kind).length
  for (const [id, comparison] of compared) {
    if (comparison.kind === 'equal') continue
    const { at, gap, ours, theirs, kind } = comparison
    console.log(
      `${kind}: ${id}, step ${at}: ours ${name(ours)}, theirs ${name(theirs)}, preferred by ${gap.toFixed(4)}`,
    )
  }
  const [equal, close, different] = [count('equal'), count('close'), count('different')]
  console.log(
    `${title}: ${compared.length} compared, ${equal} equal, ${close} closer than ${CLOSE_GAP}, ${different} different`,
  )
  return compared.length > 0 && different === 0 && close <= Math.floor(compared.length * MAX_CLOSE_SHARE)
}
