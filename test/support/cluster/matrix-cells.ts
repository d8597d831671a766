import { createRandom } from '../tools/seeded.ts'

/** What is varied, with all its values. */
export const DIMENSIONS = {
  process: ['worker', 'api', 'projector', 'all'],
  fault: ['kill', 'freeze-3', 'freeze-30', 'cut-mongodb', 'cut-eventstoredb', 'cut-peers'],
  source: ['raw', 'hls', 'rtmp'],
  moment: ['idle', 'mid-phrase', 'in-takeover'],
} as const

type Dimensions = typeof DIMENSIONS
/** A fault that befalls a process of a role at a moment of a session with a source. */
export type Cell = { readonly [D in keyof Dimensions]: Dimensions[D][number] }

/** Cells that one fault serves: it strikes at one moment of the cluster, whatever their sources are. */
export interface Strike extends Pick<Cell, 'process' | 'fault'> {
  readonly isInTakeover: boolean
  readonly cells: ReadonlyArray<Cell>
}

const NAMES = Object.keys(DIMENSIONS) as ReadonlyArray<keyof Dimensions>

/** All of them. */
export const CELLS: ReadonlyArray<Cell> = DIMENSIONS.process.flatMap((process) =>
  DIMENSIONS.fault.flatMap((fault) =>
    DIMENSIONS.source.flatMap((source) => DIMENSIONS.moment.map((moment) => ({ process, fault, source, moment })))))

export const nameOf = (cell: Cell): string => NAMES.map((name) => cell[name]).join('/')

/** Values of two dimensions that a cell holds. */
export const pairsOf = (cell: Cell): ReadonlyArray<string> =>
  NAMES.flatMap((one, i) => NAMES.slice(i + 1).map((other) => `${cell[one]} ${cell[other]}`))

/** So many cells, which hold every pair that any cell holds, each about as often as the others; always the same ones. */
export const pairwise = (count: number): ReadonlyArray<Cell> => {
  const held = new Map<string, number>()
  const chosen: Array<Cell> = []
  const worth = (cell: Cell): number => pairsOf(cell).reduce((sum, pair) => sum + 1 / 8 ** (held.get(pair) ?? 0), 0)
  while (chosen.length < count) {
    const best = CELLS.filter((cell) => !chosen.includes(cell)).reduce((a, b) => (worth(b) > worth(a) ? b : a))
    chosen.push(best)
    for (const pair of pairsOf(best)) held.set(pair, (held.get(pair) ?? 0) + 1)
  }
  return chosen
}

/** Strikes that serve the cells, in an order that the seed tells; those of one set of processes stand together. */
export const strikesOf = (cells: ReadonlyArray<Cell>, seed: string): ReadonlyArray<Strike> => {
  const random = createRandom(`matrix ${seed}`)
  const isInTakeover = ({ moment }: Cell): boolean => moment === 'in-takeover'
  const groups = Map.groupBy(cells, (cell) => `${cell.process} ${cell.fault} ${isInTakeover(cell)}`)
  return [...groups.values()]
    .map(([first, ...more]) => ({ at: random(), cells: first === undefined ? [] : [first, ...more] }))
    .toSorted((a, b) => a.at - b.at)
    .flatMap(({ cells: of }) => of.slice(0, 1).map((cell) => ({ process: cell.process, fault: cell.fault, isInTakeover: isInTakeover(cell), cells: of })))
    .toSorted((a, b) => Number(a.process === 'all') - Number(b.process === 'all'))
}

const fits = (cell: Cell, pattern: string): boolean => {
  const wanted = pattern.split('/')
  return NAMES.every((name, i) => [undefined, '', '*', cell[name]].includes(wanted[i]))
}

/**
 * What is asked for: nothing, 45 of the cells; `all`; `<seed>:<from>`, all of them in the order of the seed from a strike
 * on; or names of cells (`worker/kill/raw/idle`), in which `*` or nothing stands for every value.
 */
export const requestedStrikes = (asked = ''): { readonly seed: string; readonly from: number; readonly strikes: ReadonlyArray<Strike> } => {
  const [, seed = '1', from = '0'] = /^(\w+):(\d+)$/.exec(asked) ?? []
  const cells = asked === '' ? pairwise(45) : asked.includes('/') ? CELLS.filter((cell) => asked.split(',').some((name) => fits(cell, name))) : CELLS
  return { seed, from: Number(from), strikes: strikesOf(cells, seed) }
}
