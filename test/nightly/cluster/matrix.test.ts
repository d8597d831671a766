import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { FFMPEG } from '../../support/sources/audio-server.ts'
import { startCluster } from '../../support/cluster/cluster.ts'
import { requestedStrikes, CELLS, nameOf, pairsOf, pairwise } from '../../support/cluster/matrix-cells.ts'
import type { Strike } from '../../support/cluster/matrix-cells.ts'
import { strike, untilReady } from '../../support/cluster/matrix-strike.ts'
import type { MatrixCluster, Outcome } from '../../support/cluster/matrix-strike.ts'

const withFfmpeg = existsSync(FFMPEG) ? test.serial : test.serial.skip

/** A file of verdicts, a line a cell: cells that it says are ok are not run again. */
const VERDICTS = process.env['STENOLOG_TEST_MATRIX_VERDICTS']

const alreadyOk = (): ReadonlySet<string> => {
  const lines = VERDICTS !== undefined && existsSync(VERDICTS) ? readFileSync(VERDICTS, 'utf8').split('\n') : []
  return new Set(
    lines
      .map((line) => line.split(' '))
      .filter(([, verdict]) => verdict === 'ok')
      .map(([cell = '']) => cell),
  )
}

/** Sources of the tests are on this machine. */
const SETTINGS = { AUDIO_URL_ALLOW_CIDRS: '127.0.0.1/32' }

const ofAll = async (t: ExecutionContext): Promise<MatrixCluster> => {
  const cluster = await startCluster(t)
  const one = await cluster.add('all-1', 'all', SETTINGS)
  const two = await cluster.add('all-2', 'all', SETTINGS)
  return { cluster, all: [one, two], fronts: [one, two], workers: [one, two], projector: one }
}

const ofRoles = async (t: ExecutionContext): Promise<MatrixCluster> => {
  const cluster = await startCluster(t)
  const projector = await cluster.add('projector-1', 'projector', SETTINGS)
  const workers = [await cluster.add('worker-1', 'worker', SETTINGS), await cluster.add('worker-2', 'worker', SETTINGS)]
  const fronts = [await cluster.add('api-1', 'api', SETTINGS), await cluster.add('api-2', 'api', SETTINGS)]
  return { cluster, all: [projector, ...workers, ...fronts], fronts, workers, projector }
}

test('45 cells hold each pair of values of two dimensions that 216 hold', (t) => {
  t.is(CELLS.length, 216)
  const chosen = pairwise(45)
  t.is(new Set(chosen.map(nameOf)).size, 45)
  t.is(new Set(chosen.flatMap(pairsOf)).size, new Set(CELLS.flatMap(pairsOf)).size)
})

withFfmpeg('nothing is lost or told twice, whichever process a fault befalls, at any moment of a session of any source', async (t) => {
  t.timeout(6 * 3_600_000)
  const { seed, from, strikes } = requestedStrikes(process.env['STENOLOG_TEST_MATRIX'])
  const failed: Array<string> = []
  const tell = (index: number, { cell, wrong, note }: Outcome): void => {
    // At once: a run of hours is looked at before it ends.
    const verdict = `${wrong.length === 0 ? 'ok' : wrong.join('; ')} · ${note}\n`
    process.stderr.write(`${index} ${cell}: ${verdict}`)
    if (VERDICTS !== undefined) appendFileSync(VERDICTS, `${cell} ${verdict}`)
    if (wrong.length === 0) return
    failed.push(
      `${cell}: ${wrong.join('; ')} (again: STENOLOG_TEST_MATRIX=${cell}, or from here on: STENOLOG_TEST_MATRIX=${seed}:${index})`,
    )
  }
  const attempt = async (world: MatrixCluster, index: number, blow: Strike): Promise<void> => {
    try {
      for (const outcome of await strike(t, world, blow)) tell(index, outcome)
    } catch (error) {
      for (const cell of blow.cells)
        tell(index, {
          cell: nameOf(cell),
          wrong: [error instanceof Error ? error.message : String(error)],
          note: 'not judged',
        })
    }
  }
  let world: MatrixCluster | undefined
  const done = alreadyOk()
  for (const [index, whole] of strikes.entries()) {
    const blow = { ...whole, cells: whole.cells.filter((cell) => !done.has(nameOf(cell))) }
    if (index < from || blow.cells.length === 0) continue
    const isOfAll = blow.process === 'all'
    if (world === undefined || isOfAll !== (world.all.length === 2)) {
      for (const one of world?.all ?? []) await one.kill()
      world = isOfAll ? await ofAll(t) : await ofRoles(t)
      await untilReady(world.all)
    }
    await attempt(world, index, blow)
  }
  t.deepEqual(failed, [])
})
