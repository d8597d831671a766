import { createRandom } from '../tools/seeded.ts'

/** The dimensions of the matrix with their values. */
export const DIMENSIONS = {
  process: ['worker', 'api', 'projector', 'all'],
  fault: ['kill', 'freeze-3', 'freeze-30', 'cut-mongodb', 'cut-eventstoredb', 'cut-peers'],
  source: ['raw', 'hls', 'rtmp'],
  moment: ['idle', 'mid-phrase', 'in-takeover'],
} as const

type Dimensions = typeof DIMENSIONS
/** One case: a fault of a process with a role, at a moment of a session with a kind of source. */
export type Cell = { readonly [D in keyof Dimensions]: Dimensions[D][number] }

/** One fault and all cells that it tests at the same time. Their sessions run in parallel. */
export interface Strike extends Pick<Cell, 'process' | 'fault'> {
  readonly isInTakeover: boolean
  readonly cells: ReadonlyArray<Cell>
}

const NAMES = Object.keys(DIMENSIONS) as ReadonlyArray<keyof Dimensions>

/** All cells. */
export const CELLS: ReadonlyArray<Cell> = DIMENSIONS.process.flatMap((process) =>
  DIMENSIONS.fault.flatMap((fault) =>
    DIMENSIONS.source.flatMap((source) => DIMENSIONS.moment.map((moment) => ({ process, fault, source, moment })))))

export const nameOf = (cell: Cell): string => NAMES.map((name) => cell[name]).join('/')

/** The pairs of values of two dimensions in a cell. */
export const pairsOf = (cell: Cell): ReadonlyArray<string> =>
  NAMES.flatMap((first, i) => NAMES.slice(i + 1).map((second) => `${cell[first]} ${cell[second]}`))

/** Chooses cells that contain every pair, each about equally often. The choice is deterministic. */
export const pairwise = (count: number): ReadonlyArray<Cell> => {
  const covered = new Map<string, number>()
  const chosen: Array<Cell> = []
  /** The sum over the pairs of a cell. A pair counts less, the more often the chosen cells contain it. */
  const worth = (cell: Cell): number => pairsOf(cell).reduce((sum, pair) => sum + 1 / 8 ** (covered.get(pair) ?? 0), 0)
  while (chosen.length < count) {
    const best = CELLS.filter((cell) => !chosen.includes(cell)).reduce((a, b) => (worth(b) > worth(a) ? b : a))
    chosen.push(best)
    for (const pair of pairsOf(best)) covered.set(pair, (covered.get(pair) ?? 0) + 1)
  }
  return chosen
}

/** Groups cells with the same fault into strikes. The seed decides their order; strikes on the role `all` come last. */
export const strikesOf = (cells: ReadonlyArray<Cell>, seed: string): ReadonlyArray<Strike> => {
  const random = createRandom(`matrix ${seed}`)
  const isInTakeover = ({ moment }: Cell): boolean => moment === 'in-takeover'
  const groups = Map.groupBy(cells, (cell) => `${cell.process} ${cell.fault} ${isInTakeover(cell)}`)
  return [...groups.values()]
    .map(([first, ...more]) => ({ order: random(), cells: first === undefined ? [] : [first, ...more] }))
    .toSorted((a, b) => a.order - b.order)
    .flatMap(({ cells: group }) =>
      group.slice(0, 1).map((cell) => {
        const { process, fault } = cell
        return { process, fault, isInTakeover: isInTakeover(cell), cells: group }
      }))
    .toSorted((a, b) => Number(a.process === 'all') - Number(b.process === 'all'))
}

const fits = (cell: Cell, pattern: string): boolean => {
  const wanted = pattern.split('/')
  return NAMES.every((name, i) => [undefined, '', '*', cell[name]].includes(wanted[i]))
}

interface RequestedStrikes {
  readonly seed: string
  /** The number of the first strike. */
  readonly from: number
  readonly strikes: ReadonlyArray<Strike>
}

const requestedCells = (request: string): ReadonlyArray<Cell> => {
  if (request === '') return pairwise(45)
  if (!request.includes('/')) return CELLS
  const names = request.split(',')
  return CELLS.filter((cell) => names.some((name) => fits(cell, name)))
}

/**
 * Parses a request for strikes. Empty: 45 cells. `all`: all cells. `<seed>:<from>`: all cells in the order of the seed,
 * from a strike on. Otherwise a list of cells (`worker/kill/raw/idle`); `*` or an empty part matches any value.
 */
export const requestedStrikes = (request = ''): RequestedStrikes => {
  const [, seed = '1', from = '0'] = /^(\w+):(\d+)$/.exec(request) ?? []
  return { seed, from: Number(from), strikes: strikesOf(requestedCells(request), seed) }
}
