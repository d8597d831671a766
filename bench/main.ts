/** `npm run bench [-- NAME] [--json FILE]`: each figure is a ratio against a peer measured in the same run. */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { durableAppends } from './durable-append.ts'
import type { Benchmark, Figure } from './harness.ts'
import { machine, measure } from './harness.ts'
import { pipeline } from './pipeline.ts'

const BENCHMARKS: ReadonlyArray<Benchmark> = [...durableAppends, pipeline]

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const [wanted] = positionals
const chosen = BENCHMARKS.filter(({ name }) => wanted === undefined || name === wanted)
if (chosen.length === 0) {
  console.error(`no benchmark "${wanted}"; there are ${BENCHMARKS.map(({ name }) => name).join(', ')}`)
  process.exitCode = 2
}
const figures: Array<Figure> = []
for (const benchmark of chosen) {
  const figure = await measure(benchmark)
  figures.push(figure)
  console.log(`${figure.name}: ${figure.ratio} of ${figure.peer} (${figure.ours_per_s}/s against ${figure.peer_per_s}/s): ${figure.meaning}`)
}
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ machine: machine(), figures }, null, 2)}\n`)
