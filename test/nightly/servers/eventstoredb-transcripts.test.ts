import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { EVENTSTORE_FOLDER } from '../../support/stores/chosen-stores.ts'
import { startEventStoreServer } from '../../support/stores/eventstoredb-server/start.ts'
import { startDoubleCluster } from '../../support/doubles/eventstoredb/start-cluster.ts'
import { startDouble } from '../../support/doubles/eventstoredb/start.ts'
import { normalise } from '../../support/doubles/eventstoredb/transcripts/compare.ts'
import type { RecordedNode } from '../../support/doubles/eventstoredb/transcripts/recorded-node.ts'
import { recordThreeNodes } from '../../support/doubles/eventstoredb/transcripts/t24.ts'

const TRANSCRIPTS = join(import.meta.dirname, '..', '..', 'support', 'doubles', 'eventstoredb', 'transcripts')

const double = EVENTSTORE_FOLDER === undefined ? await startDouble() : null
const logs: string[] = []
if (double !== null) while (logs.length < 3) logs.push(await double.startEmptyLog())
test.after.always(() => double?.dispose())

/** Returns the URL of an empty log, on the double or on a real server. Both have one node, as in the recording. */
const startLog = async (t: ExecutionContext, args: ReadonlyArray<string> = []): Promise<string> => {
  if (EVENTSTORE_FOLDER === undefined) return logs.pop() ?? ''
  const server = await startEventStoreServer({ nodes: 1, args })
  t.teardown(server.dispose)
  return server.url
}

/** Runs a recording script. Returns its output. */
const outputOf = async (script: string, url: string, ...args: ReadonlyArray<string>): Promise<string> =>
  (await promisify(execFile)(process.execPath, [join(TRANSCRIPTS, `${script}.ts`), url, ...args])).stdout

const recorded = async (name: string): Promise<ReadonlyArray<string>> =>
  normalise(await readFile(join(TRANSCRIPTS, `${name}.txt`), 'utf8'))

// These tests run in parallel on separate logs, because the scripts wait most of the time.
for (const name of ['t1', 't3'])
  test(`the double repeats the recording ${name} of server 23.10.6`, async (t) => {
    t.deepEqual(normalise(await outputOf(name, await startLog(t))), await recorded(name))
  })

test('the double repeats the recording t20 of server 23.10.6', async (t) => {
  // A real server scavenges only full chunks.
  const url = await startLog(t, ['--chunk-size=4194304'])
  t.deepEqual(normalise(await outputOf('t20', url, ...(double === null ? ['100'] : []))), await recorded('t20'))
})

/** Milliseconds of each step: shorter than in reality, but long enough to observe the step on a busy machine. */
const DELAYS = {
  electionAfterKill: 4000, electionAfterFreeze: 2000, electionAfterResign: 20, electionAfterReturn: 20,
  refusalAfterKill: 4000, refusalAfterFreeze: 4000, claim: 1000, forwarding: 50,
}

const startNodes = async (): Promise<{
  readonly nodes: ReadonlyArray<RecordedNode>
  readonly dispose: () => Promise<void>
}> => {
  if (EVENTSTORE_FOLDER === undefined) return startDoubleCluster({ delays: DELAYS })
  const { url, nodes, dispose } = await startEventStoreServer({ nodes: 3 })
  const all = nodes.map(({ address }) => address).join()
  return {
    nodes: nodes.map((node) => ({
      ...node,
      url: url.replace(all, node.address),
      hasEnded: async () => node.restarts() > 0,
    })),
    dispose,
  }
}

test('the double of three nodes repeats the recording t24 of server 23.10.6', async (t) => {
  const { nodes, dispose } = await startNodes()
  t.teardown(dispose)
  const lines: string[] = []
  await recordThreeNodes(nodes, (line) => lines.push(line)).catch((error: unknown) => {
    throw new Error(`after ${lines.at(-1)}`, { cause: error })
  })
  t.deepEqual(normalise(lines.join('\n')), await recorded('t24'))
})

test('the comparison keeps every line and notices differences', (t) => {
  const sample = [
    'idempotent retry of a truncated event? -> OK {"nextExpectedRevision":"2n"}',
    'first -> OK {"position":{"commit":"10n","prepare":"10n"}} 5ms',
    'second -> OK {"position":{"commit":"11n","prepare":"11n"}} 6ms',
  ]
  t.is(normalise(sample.join('\n')).length, 3)
  t.deepEqual(
    normalise(sample.join('\n')),
    normalise(sample.join('\n').replaceAll('10n', '70n').replaceAll('11n', '80n').replaceAll('5ms', '9ms')),
  )
  for (const [before, after] of [['11n', '10n'], ['second', '2nd'], ['"2n"', '"3n"']] as const)
    t.notDeepEqual(normalise(sample.join('\n').replaceAll(before, after)), normalise(sample.join('\n')))
})
