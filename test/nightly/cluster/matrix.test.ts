import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { FFMPEG } from '../../support/sources/audio-server.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import { requestedStrikes, CELLS, nameOf, pairsOf, pairwise, type Strike } from '../../support/cluster/matrix-cells.ts'
import { strike, untilReady, type MatrixCluster, type Outcome } from '../../support/cluster/matrix-strike.ts'

const withFfmpeg = existsSync(FFMPEG) ? test.serial : test.serial.skip

/**
 * Path of a file that gets one line for each cell: its name and its verdict. A cell is a fault of one process at one
 * moment of a session. Cells with the verdict `ok` in the file are skipped.
 */
const VERDICTS = process.env['STENOLOG_TEST_MATRIX_VERDICTS']

const passedCells = (): ReadonlySet<string> => {
  const lines = VERDICTS !== undefined && existsSync(VERDICTS) ? readFileSync(VERDICTS, 'utf8').split('\n') : []
  return new Set(
    lines
      .map((line) => line.split(' '))
      .filter(([, verdict]) => verdict === 'ok')
      .map(([cell = '']) => cell),
  )
}

/** The tests serve their audio sources from this machine. */
const SETTINGS = { AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32' }

const startAllRoles = async (t: ExecutionContext): Promise<MatrixCluster> => {
  const cluster = await startCluster(t)
  const one = await cluster.add('all-1', 'all', SETTINGS)
  const two = await cluster.add('all-2', 'all', SETTINGS)
  return { cluster, all: [one, two], fronts: [one, two], workers: [one, two], projector: one }
}

const startSeparateRoles = async (t: ExecutionContext): Promise<MatrixCluster> => {
  const cluster = await startCluster(t)
  const projector = await cluster.add('projector-1', 'projector', SETTINGS)
  const workers = [await cluster.add('worker-1', 'worker', SETTINGS), await cluster.add('worker-2', 'worker', SETTINGS)]
  const fronts = [await cluster.add('api-1', 'api', SETTINGS), await cluster.add('api-2', 'api', SETTINGS)]
  return { cluster, all: [projector, ...workers, ...fronts], fronts, workers, projector }
}

test('45 chosen cells cover every pair of values that all 216 cells cover', (t) => {
  t.is(CELLS.length, 216)
  const chosen = pairwise(45)
  t.is(new Set(chosen.map(nameOf)).size, 45)
  t.is(new Set(chosen.flatMap(pairsOf)).size, new Set(CELLS.flatMap(pairsOf)).size)
})

withFfmpeg('no fault of any process at any moment of a session loses or repeats text', async (t) => {
  t.timeout(6 * 3_600_000)
  const { seed, from, strikes } = requestedStrikes(process.env['STENOLOG_TEST_MATRIX'])
  const failed: Array<string> = []
  const report = (index: number, { cell, wrong, note }: Outcome): void => {
    // Each verdict is printed at once, because the run takes hours.
    const verdict = `${wrong.length === 0 ? 'ok' : wrong.join('; ')} · ${note}\n`
    process.stderr.write(`${index} ${cell}: ${verdict}`)
    if (VERDICTS !== undefined) appendFileSync(VERDICTS, `${cell} ${verdict}`)
    if (wrong.length === 0) return
    failed.push(
      `${cell}: ${wrong.join('; ')} (repeat: STENOLOG_TEST_MATRIX=${cell}; ` +
        `continue here: STENOLOG_TEST_MATRIX=${seed}:${index})`,
    )
  }
  const attempt = async (world: MatrixCluster, index: number, requested: Strike): Promise<void> => {
    try {
      for (const outcome of await strike(t, world, requested)) report(index, outcome)
    } catch (error) {
      for (const cell of requested.cells)
        report(index, {
          cell: nameOf(cell),
          wrong: [error instanceof Error ? error.message : String(error)],
          note: 'the round failed',
        })
    }
  }
  let world: MatrixCluster | undefined
  const done = passedCells()
  for (const [index, whole] of strikes.entries()) {
    const remaining = { ...whole, cells: whole.cells.filter((cell) => !done.has(nameOf(cell))) }
    if (index < from || remaining.cells.length === 0) continue
    const hasAllRoles = remaining.process === 'all'
    if (world === undefined || hasAllRoles !== (world.all.length === 2)) {
      for (const process of world?.all ?? []) await process.kill()
      world = hasAllRoles ? await startAllRoles(t) : await startSeparateRoles(t)
      await untilReady(world.all)
    }
    await attempt(world, index, remaining)
  }
  t.deepEqual(failed, [])
})
